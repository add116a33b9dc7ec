"""`python -m tests.eval NAME SRC --predict OUT`: run the product over a file without answers. `--all`: score every NAME known here."""

import argparse
import asyncio
import importlib
import json
import subprocess
import sys
from pathlib import Path

SHARED = Path(__file__).resolve().parents[3] / "shared" / "eval"
SOURCES = {
    "screens": ["screens"],
    "retrieval": ["retrieval/cmrc2018_trial.json", "retrieval/drcd_dev.json", "retrieval/drcd_dev.json#t2s"],
    "datetime": ["datetime/phrases.json"],
    "media": ["media_parse_cases.jsonl"],
    "instructions": ["instructions.jsonl"],
    "requests": ["requests.jsonl"],
    "images": ["."],
}


def predict(name: str, source: Path, out: Path) -> None:
    """Write one JSON object a line, made by `tests.eval.NAME.predict(source)` (an async iterator of dicts)."""
    runner = importlib.import_module(f"tests.eval.{name}")

    async def write() -> None:
        with out.open("w", encoding="utf8") as file:
            async for row in runner.predict(source):
                file.write(json.dumps(row, ensure_ascii=False) + "\n")

    asyncio.run(write())


def score_all() -> int:
    """Score every known NAME with the shared scorer; prints one line of figures each."""
    scorer = SHARED / "score.py"
    if not scorer.exists():
        print(f"no evaluation data at {SHARED}")
        return 1
    failed = 0
    for name, sources in SOURCES.items():
        for source in sources:
            run = subprocess.run([sys.executable, str(scorer), "run", name, str(SHARED / source)], stdout=subprocess.PIPE, text=True)
            print(f"{name} {source}: {run.stdout.strip().splitlines()[-1] if run.returncode == 0 else 'FAILED'}", flush=True)
            failed += run.returncode != 0
    return failed


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.eval", description=__doc__)
    parser.add_argument("name", nargs="?", choices=sorted(SOURCES))
    parser.add_argument("source", nargs="?", type=Path)
    parser.add_argument("--predict", type=Path, metavar="OUT")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    if options.all:
        sys.exit(score_all())
    if not (options.name and options.source and options.predict):
        parser.error("give NAME SRC --predict OUT, or --all")
    predict(options.name, options.source, options.predict)


if __name__ == "__main__":
    main()
