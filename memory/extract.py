"""Runs alone as a child process: a document on standard input, its text on standard output. See `memory.attachments`.

Arguments: suffix (".pdf"), memory in bytes, CPU seconds. Hostile documents meet these limits, not the server.
"""

import io
import sys


def limit(memory_bytes: int, cpu_seconds: int) -> None:
    try:
        import resource
    except ImportError:  # not a POSIX system: the parent's time limit remains
        return
    for kind, value in ((resource.RLIMIT_AS, memory_bytes), (resource.RLIMIT_CPU, cpu_seconds), (resource.RLIMIT_FSIZE, 0)):
        try:
            resource.setrlimit(kind, (value, value))
        except (ValueError, OSError):  # macOS refuses some of them
            continue


def convert(data: bytes, suffix: str) -> str:
    from markitdown import StreamInfo
    from markitdown.converters import DocxConverter, HtmlConverter, PdfConverter, XlsxConverter

    converters = {".pdf": PdfConverter, ".docx": DocxConverter, ".xlsx": XlsxConverter, ".html": HtmlConverter}
    return str(converters[suffix]().convert(io.BytesIO(data), StreamInfo(extension=suffix, charset="utf-8")).markdown)


if __name__ == "__main__":
    limit(int(sys.argv[2]), int(sys.argv[3]))
    sys.stdout.buffer.write(convert(sys.stdin.buffer.read(), sys.argv[1]).encode("utf-8", errors="replace"))
