"""What the build of the documentation adds: pictures, the gallery, the table of the architecture.

Nothing of it is written into the source tree. MkDocs calls the functions by their names.
"""

import ast
from pathlib import Path
from typing import Any

import layers
import method
from mkdocs.structure.files import File, Files, InclusionLevel

ROOT = Path(__file__).parents[2]
_EXAMPLES = ROOT / "examples"


def on_files(files: Files, config: Any) -> Files:
    """Add what is computed: MkDocs checks links to it like any other."""
    made = {f"images/{name}": draw() for name, draw in method.PICTURES.items()}
    made["images/layers.svg"] = layers.drawing()
    made |= {f"gallery/{path.stem}.md": _example_page(path) for path in _examples()}
    made["gallery/index.md"] = _gallery()
    for name, content in made.items():
        files.append(
            File.generated(config, name, content=content, inclusion=InclusionLevel.INCLUDED)
        )
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill in what a page leaves for the build."""
    return markdown.replace("<!-- table of parts -->", layers.table())


def _examples() -> list[Path]:
    return sorted(_EXAMPLES.glob("*.py"))


def _docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or path.stem


def _title(path: Path) -> str:
    return _docstring(path).split("\n", 1)[0].rstrip(".")


def _gallery() -> str:
    rows = [
        f"| [{_title(path)}]({path.stem}.md) | `examples/{path.name}` |" for path in _examples()
    ]
    return "\n".join(
        [
            "# Gallery",
            "",
            "Programs to start from. Each runs from a clone in some seconds, and in the tests:",
            "",
            "    python examples/quick_start.py",
            "",
            "| what it shows | file |",
            "|---|---|",
            *rows,
            "",
        ]
    )


def _example_page(path: Path) -> str:
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    body = source.splitlines()[tree.body[0].end_lineno :]
    code = "\n".join(body).strip()
    said = "\n".join(_docstring(path).splitlines()[2:])
    return f"# {_title(path)}\n\n{said}\n\n```python\n{code}\n```\n"
