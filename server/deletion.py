"""Deleting a conversation with all that only it had: run, events, pictures, checkpoints, transcript."""

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from graph.services import Services
from memory.checkpoints import delete_thread
from memory.jobs import Job, JobKind, JobQueue
from memory.scope import Scope
from server.runs import RunManager


async def delete_conversation(
    conversation_id: str, *, scope: Scope, services: Services, saver: AsyncSqliteSaver, runs: RunManager, jobs: JobQueue
) -> bool:
    """False: there is none in this scope. An active run is stopped first.

    The conversation's row goes last: whatever a crash leaves in between, the user still sees it and can delete it again.
    """
    if await services.conversations.get(conversation_id, scope=scope) is None:
        return False
    async with runs.closed(conversation_id):
        await services.assets.forget_conversation(conversation_id, scope=scope)
        await delete_thread(saver, conversation_id)
        await services.conversations.delete(conversation_id, scope=scope)
    await jobs.enqueue(Job(JobKind.MAINTAIN, scope.owner))
    return True
