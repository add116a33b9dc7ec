import io
import zipfile

import pytest

from memory.attachments import ExtractionLimits, attachment_note, extract_text

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def test_the_note_says_name_and_size() -> None:
    assert attachment_note("报告.pdf", 1234) == "[附件: 报告.pdf (1234 bytes)]"


@pytest.mark.parametrize(
    ("data", "mime_type", "name", "expected"),
    [
        ("预算 300 元".encode(), "text/plain", "a.txt", "预算 300 元"),
        ("预算 300 元".encode("gb18030"), "application/octet-stream", "a.csv", "预算 300 元"),
        ("预算".encode("utf-16"), "text/plain", None, "预算"),
        (b"a,b\n1,2", "text/csv", None, "a,b\n1,2"),
        (b'{"a": 1}', "application/json", None, '{"a": 1}'),
        (b"a\n\n\n\n\nb", "text/markdown", None, "a\n\nb"),
        (b"\0\1\2", "application/octet-stream", "a.bin", None),
        (b"", "text/plain", "a.txt", None),
    ],
)
async def test_plain_text(data: bytes, mime_type: str, name: str | None, expected: str | None) -> None:
    assert await extract_text(data, mime_type=mime_type, file_name=name) == expected


async def test_html_keeps_its_words_only() -> None:
    page = "<html><head><script>steal()</script></head><body><h1>价目</h1><p>拿铁 18 元</p></body></html>"
    text = await extract_text(page.encode(), mime_type="text/html")
    assert text is not None
    assert "拿铁 18 元" in text
    assert "steal" not in text


async def test_a_workbook() -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["品名", "单价"])
    book.active.append(["拿铁", 18])
    buffer = io.BytesIO()
    book.save(buffer)
    text = await extract_text(buffer.getvalue(), mime_type=XLSX)
    assert text is not None
    assert "拿铁" in text
    assert "18" in text


OPEN_XML = "http://schemas.openxmlformats.org"


def docx(body: str) -> bytes:
    types = (
        f'<Types xmlns="{OPEN_XML}/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{DOCX}.main+xml"/></Types>'
    )
    rels = (
        f'<Relationships xmlns="{OPEN_XML}/package/2006/relationships"><Relationship Id="r" Target="word/document.xml" '
        f'Type="{OPEN_XML}/officeDocument/2006/relationships/officeDocument"/></Relationships>'
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", types)
        archive.writestr("_rels/.rels", rels)
        archive.writestr("word/document.xml", body)
    return buffer.getvalue()


XXE = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
W = f'xmlns:w="{OPEN_XML}/wordprocessingml/2006/main"'


async def test_a_document() -> None:
    body = f"<w:document {W}><w:body><w:p><w:r><w:t>会议在周三</w:t></w:r></w:p></w:body></w:document>"
    assert await extract_text(docx(body), mime_type=DOCX) == "会议在周三"


def pdf(text: str) -> bytes:
    stream = f"BT /F1 24 Tf 72 700 Td ({text}) Tj ET".encode()
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    body, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj%s endobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return body + b"xref\n0 6\n0000000000 65535 f \n" + table + b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % len(body)


async def test_a_pdf() -> None:
    assert await extract_text(pdf("Order 4711"), mime_type="application/pdf") == "Order 4711"


@pytest.mark.parametrize(
    ("data", "mime_type"),
    [
        (b"%PDF-1.7 and nothing else", "application/pdf"),
        (b"PK\x03\x04 cut off", DOCX),
        (docx(f"{XXE}<w:document {W}><w:body><w:p><w:r><w:t>&e;</w:t></w:r></w:p></w:body></w:document>"), DOCX),
    ],
)
async def test_broken_and_hostile_documents_have_no_text(data: bytes, mime_type: str) -> None:
    assert not await extract_text(data, mime_type=mime_type)


async def test_time_memory_and_length_are_capped() -> None:
    bomb = docx(f"<w:document {W}><w:body>" + "<w:p><w:r><w:t>again</w:t></w:r></w:p>" * 400_000 + "</w:body></w:document>")
    assert len(bomb) < 1_000_000
    assert await extract_text(bomb, mime_type=DOCX, limits=ExtractionLimits(seconds=0.3)) is None
    assert await extract_text(bomb, mime_type=DOCX, limits=ExtractionLimits(memory_bytes=300_000_000)) is None
    assert await extract_text(b"x" * 100, mime_type="text/plain", limits=ExtractionLimits(characters=10)) == "x" * 10
