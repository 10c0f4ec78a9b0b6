"""Write what is made from the rules: the table in the README, and the pages in docs/rules and docs/symptoms.md.

python docs/generate.py            write what has changed, and remove pages of rules that are gone
python docs/generate.py --check    write nothing; name what has changed and exit with 1
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "rules")]

from ddplint.reporting.rule_pages import rule_pages  # noqa: E402 - found by the path above
from ddplint.reporting.rules_table import with_rules_table  # noqa: E402 - likewise
from ddplint.rulekit.pack import load_rules  # noqa: E402 - likewise


def wanted() -> Mapping[Path, str]:
    """Return the text of every file that is made from the rules."""
    rules = load_rules(())
    readme = ROOT / "README.md"
    pages = {ROOT / "docs" / name: text for name, text in rule_pages(rules).items()}
    return {readme: with_rules_table(readme.read_text("utf-8"), rules), **pages}


def main() -> int:
    files = wanted()
    gone = set((ROOT / "docs" / "rules").glob("*.md")) - files.keys()
    changed = [path for path, text in files.items() if not path.exists() or path.read_text("utf-8") != text]
    for path in sorted([*changed, *gone]):
        print(path.relative_to(ROOT))
    if "--check" in sys.argv:
        return int(bool(changed or gone))
    (ROOT / "docs" / "rules").mkdir(exist_ok=True)
    for path in changed:
        path.write_text(files[path], "utf-8")
    for path in gone:
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
