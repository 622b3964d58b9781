import subprocess
import sys
import textwrap

import pytest

from rig.parent import TESTS

A_WORKER_THAT_HANGS = """
    import signal
    from rig.parent import die_with_parent
    die_with_parent()
    print("hanging", flush=True)
    signal.pause()
"""
A_RUN_THAT_WAITS_FOR_IT = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent died")
def test_a_hanging_worker_dies_with_its_run() -> None:
    command = [sys.executable, "-c", A_RUN_THAT_WAITS_FOR_IT, textwrap.dedent(A_WORKER_THAT_HANGS)]
    with subprocess.Popen(command, cwd=TESTS, stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == b"hanging\n"
        run.kill()
        assert run.stdout.read() == b"", "the worker held the other end of this pipe"
