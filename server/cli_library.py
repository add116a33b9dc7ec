"""The library's commands: import, status, search, reindex, delete."""

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from memory.search.types import Hit, SearchResult
    from server.importer import ImportReport

library = typer.Typer()
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@library.command(name="import")
def import_(
    paths: Annotated[list[Path], typer.Argument(exists=True, help="Folders and pictures.")],
    watch: Annotated[bool, typer.Option("--watch", help="Go on importing new pictures until Ctrl-C.")] = False,
    device: Annotated[str | None, typer.Option(help="Device id to store them under.")] = None,
    as_json: Json = False,
) -> None:
    """Import screenshots: recursive, in parallel, resumable; the same file twice is stored once."""
    try:
        failed = asyncio.run(_import(paths, watch=watch, device=device, as_json=as_json))
    except KeyboardInterrupt:
        raise typer.Exit(0 if watch else 130) from None
    if failed:
        raise typer.Exit(1)


async def _import(paths: list[Path], *, watch: bool, device: str | None, as_json: bool) -> int:
    from server.library import import_paths, watch_paths
    from server.progress import import_progress
    from settings import Settings

    with import_progress(quiet=as_json) as on_progress:
        if not watch:
            report = await import_paths(Settings(), paths, device=device, on_progress=on_progress)
            _tell(report, as_json=as_json)
            return len(report.failed)
        async for report in watch_paths(Settings(), paths, device=device, on_progress=on_progress):
            _tell(report, as_json=as_json)
    return 0


def _tell(report: "ImportReport", *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(asdict(report), ensure_ascii=False), flush=True)
        return
    print(
        f"{report.found} pictures: {report.added} new, {report.duplicates} known; {report.analysed} analysed, {len(report.failed)} failed"
    )
    for name, reason in report.failed:
        print(f"  {name}: {reason}")


@library.command()
def status(as_json: Json = False) -> None:
    """How many screenshots there are, by state, category and intent; failures with their reasons."""
    from server.library import status_of
    from settings import Settings

    report = asyncio.run(status_of(Settings()))
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
        return
    print(f"photos: {report['total']}   " + "  ".join(f"{state}: {count}" for state, count in report["status"].items()))
    for name in ("category", "intent"):
        print(f"{name}: " + "  ".join(f"{key} {count}" for key, count in report[name].items()))
    for failure in report["failures"]:
        print(f"failed #{failure['id']} {failure['filename']}: {failure['error']}")


@library.command()
def search(
    query: Annotated[str, typer.Argument(help="Words, a question, a code; time words such as 昨天 with --time.")],
    limit: Annotated[int, typer.Option(min=1, max=100)] = 10,
    time: Annotated[str | None, typer.Option(help="Only screenshots taken then: 昨天, 上周三, last Friday.")] = None,
    app: Annotated[str | None, typer.Option(help="Only this app.")] = None,
    category: Annotated[str | None, typer.Option(help="Only this category.")] = None,
    as_json: Json = False,
) -> None:
    """Search the screenshots without a chat."""
    from server.library import UnknownTime, search_library
    from settings import Settings

    try:
        result = asyncio.run(search_library(Settings(), query, limit=limit, time=time, app=app, category=category))
    except UnknownTime as error:
        raise typer.BadParameter(str(error)) from error
    if as_json:
        print(json.dumps(_result_json(result), ensure_ascii=False))
    else:
        _show(result)


def _result_json(result: "SearchResult") -> dict[str, Any]:
    used = result.filters.time
    return {
        "tier": result.tier,
        "weak": result.weak,
        "total": result.total,
        "time_range": used and {"start": used.start.isoformat(), "end": used.end.isoformat(), "phrase": used.phrase},
        "filter_dropped": result.filter_dropped,
        "hits": [_hit_json(hit) for hit in result.hits],
    }


def _hit_json(hit: "Hit") -> dict[str, Any]:
    return {
        "id": hit.photo_id,
        "filename": hit.filename,
        "app_name": hit.app_name,
        "content_category": hit.content_category,
        "captured_at": hit.captured_at.isoformat(),
        "summary": hit.summary,
        "score": round(hit.score, 4),
        "tier": hit.tier,
    }


def _show(result: "SearchResult") -> None:
    from rich.console import Console
    from rich.table import Table

    if not result.hits:
        print("没有找到。 Nothing found.")
        return
    table = Table("id", "taken", "app", "summary", title=f"{result.tier}{' (weak)' if result.weak else ''}, {result.total} in all")
    for hit in result.hits:
        table.add_row(str(hit.photo_id), hit.captured_at.strftime("%Y-%m-%d %H:%M"), hit.app_name, hit.summary[:120])
    Console().print(table)


@library.command()
def reindex() -> None:
    """Build the search index anew from the analyses."""
    from server.library import reindex_all
    from settings import Settings

    print(f"{asyncio.run(reindex_all(Settings()))} screenshots indexed")


@library.command()
def delete(
    photo_ids: Annotated[list[int], typer.Argument(min=1, max=2**63 - 1, help="Numbers as shown by search and in [截图#id].")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete screenshots: rows, analysis, index entries and files, for good."""
    from server.library import delete_photos
    from settings import Settings

    if not yes:
        typer.confirm(f"Delete {len(photo_ids)} screenshot(s) for good?", abort=True)
    missing = asyncio.run(delete_photos(Settings(), photo_ids))
    for photo_id in missing:
        typer.echo(f"no screenshot #{photo_id}", err=True)
    if missing:
        raise typer.Exit(1)
