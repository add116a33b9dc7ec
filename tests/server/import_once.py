"""A process of its own that imports a folder and tells on standard output how far it is."""

import asyncio
import sys
from pathlib import Path

from graph.services import Services
from server.importer import open_importer
from settings import Settings


async def main(data_dir: Path, folder: Path) -> None:
    async with Services.open(Settings(data_dir=data_dir, ocr_workers=1)) as services, open_importer(services) as importer:
        await importer.run([folder], on_progress=lambda report: print(report.added, report.analysed, flush=True))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
