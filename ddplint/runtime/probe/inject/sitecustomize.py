"""Python imports a module of this name at its start, here because the supervisor put this folder on PYTHONPATH.

The probe begins, then the sitecustomize that this one hides is run, and the folder is taken off the path again.
"""

import os
import sys


def _begin() -> None:
    folder, home = os.environ.get("DDPLINT_RUN"), os.environ.get("DDPLINT_HOME")
    if not folder or not home or not os.path.isdir(folder):
        return
    if "ddplint" not in sys.modules:
        # By its place: the interpreter of the script need not have ddplint installed.
        from importlib.util import module_from_spec, spec_from_file_location

        spec = spec_from_file_location("ddplint", os.path.join(home, "__init__.py"), submodule_search_locations=[home])
        assert spec is not None
        assert spec.loader is not None
        sys.modules["ddplint"] = module = module_from_spec(spec)
        spec.loader.exec_module(module)
    from ddplint.runtime.probe.start import begin

    begin(folder)


def _run_the_hidden_one() -> None:
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != here]
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        sys.modules["sitecustomize"] = module = module_from_spec(spec)
        spec.loader.exec_module(module)


if __name__ == "sitecustomize":
    try:
        _begin()
    except Exception as error:
        sys.stderr.write(f"ddplint: the probe did not start: {type(error).__name__}: {error}\n")
    _run_the_hidden_one()
