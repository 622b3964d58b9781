"""What `deploy/` starts can be started: its files are valid, and every command and setting in them is one of ours."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
import typer
import yaml

from rig.prometheus import checked
from tidemill.cli.app import app
from tidemill.settings import load_settings
from tidemill.telemetry.gauges import Gauges

pytestmark = pytest.mark.shows("D2")

IN_PLACE = "/opt/tidemill/bin/tidemill"
UNITS = ("tidemill.service", "tidemill-web.service", "tidemill-worker@http.service", "tidemill-beat.service",
         "tidemill.target")  # fmt: skip
"""As `systemctl` is told to start them."""


@pytest.fixture
def deploy(project_root: Path) -> Path:
    return project_root / "deploy"


def accepted(words: list[str]) -> None:
    """Parse a command line as `tidemill` would; what it would answer to a mistake is raised."""
    group: Any = typer.main.get_command(app)
    context = group.make_context("tidemill", list(words))
    name, command, rest = group.resolve_command(context, [*context._protected_args, *context.args])
    command.make_context(name, rest, parent=context)


def settings_in(environment: dict[str, str]) -> dict[str, Any]:
    """What a file sets by environment, as settings; a reference to a secret stands for a word."""
    named = {name.removeprefix("TIDEMILL_").lower(): re.sub(r"\$\{[^}]*\}", "word", str(value))
             for name, value in environment.items() if name.startswith("TIDEMILL_")}  # fmt: skip
    return {name: value for name, value in named.items() if value}


def manifests(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for file in sorted(folder.glob("*.yaml")):
        if file.name not in {"kustomization.yaml", "prometheus-adapter.yaml"}:
            yield from ((file.name, each) for each in yaml.safe_load_all(file.read_text()))


def pods(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for file, each in manifests(folder):
        if each["kind"] in {"Deployment", "Job"}:
            yield file, each["spec"]["template"]["spec"]


@pytest.mark.parametrize("mistake", [["worker", "--lanes", "http"], ["up", "--role"], ["beats"]])
def test_the_check_of_commands_finds_a_mistake(mistake: list[str]) -> None:
    with pytest.raises(Exception, match=r"No such|requires an argument"):
        accepted(mistake)


def test_the_dockerfile_is_in_order(deploy: Path, do_without: Callable[[str], NoReturn]) -> None:
    linter = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or do_without(
        "no hadolint: `make test` gets it"
    )
    said = subprocess.run([linter, "Dockerfile"], cwd=deploy, capture_output=True, text=True, check=False)
    assert (said.returncode, said.stdout) == (0, "")


def test_the_image_is_made_of_what_is_there_and_runs_as_nobody_special(deploy: Path) -> None:
    lines = (deploy / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    let_in = {line[1:] for line in (deploy / "Dockerfile.dockerignore").read_text().splitlines() if line[:1] == "!"}
    copied = {
        word for line in lines if line.startswith("COPY ") and "--from" not in line for word in line.split()[1:-1]
    }
    assert copied == let_in
    assert all((deploy.parent / each).exists() for each in copied)
    users = [line.split()[1] for line in lines if line.startswith("USER ")]
    assert users == ["10001:10001"]
    accepted(json.loads(next(line for line in lines if line.startswith("CMD [")).removeprefix("CMD ")))


def test_every_service_of_compose_starts_a_command_of_ours_with_settings_of_ours(deploy: Path) -> None:
    services = yaml.safe_load((deploy / "compose.yaml").read_text())["services"]
    ours = {name: each for name, each in services.items() if each["image"].startswith("tidemill:")}
    assert {"migrate", "web", "worker", "worker-live", "worker-browser", "beat"} == set(ours)
    assert {"postgres", "redis", "prometheus", "grafana"} == set(services) - set(ours)
    for each in ours.values():
        accepted(each["command"])
        load_settings(**settings_in(each["environment"]))
        assert each["read_only"]
        assert each["cap_drop"] == ["ALL"]


def test_what_compose_mounts_is_there_and_what_it_asks_for_is_in_the_example(deploy: Path) -> None:
    text = (deploy / "compose.yaml").read_text()
    mounted = re.findall(r"- (\./[^:]+):", text)
    assert len(mounted) == 5
    assert [each for each in mounted if not (deploy / each).is_file()] == []
    example = dict(re.findall(r"^(\w+)=(.*)$", (deploy / "compose.env.example").read_text(), re.MULTILINE))
    assert set(re.findall(r"\$\{(\w+):\?", text)) == set(example)
    assert set(example.values()) == {""}, "an example holds no secrets"


def test_prometheus_takes_what_compose_gives_it(deploy: Path, tmp_path: Path) -> None:
    shutil.copy(deploy / "rules.yml", tmp_path)
    written = (deploy / "compose" / "prometheus.yml").read_text()
    (tmp_path / "token").write_text("word")
    (tmp_path / "prometheus.yml").write_text(written.replace("/etc/prometheus/tidemill-watch-token", "token"))
    assert "is valid prometheus config file" in checked(
        "promtool", "check", "config", "prometheus.yml", folder=tmp_path
    )


def test_manifests_are_valid_by_the_schemas_of_kubernetes(deploy: Path, do_without: Callable[[str], NoReturn]) -> None:
    try:
        import kubernetes_validate  # noqa: PLC0415 - a laptop may do without
    except ImportError:
        do_without("no kubernetes-validate: `make test` gets it")
    found = list(manifests(deploy / "kubernetes"))
    for version in ("1.31", "1.35"):
        for _, manifest in found:
            kubernetes_validate.validate(manifest, version, strict=True)
    resources = yaml.safe_load((deploy / "kubernetes" / "kustomization.yaml").read_text())["resources"]
    assert set(resources) == {file for file, _ in found} - {"secret.example.yaml"}


def test_every_pod_runs_a_command_of_ours_bounded_and_unprivileged(deploy: Path) -> None:
    found = list(pods(deploy / "kubernetes"))
    assert {file for file, _ in found} == {"migrate.yaml", "web.yaml", "worker.yaml", "worker-live.yaml", "beat.yaml"}
    for _, pod in found:
        (container,) = pod["containers"]
        accepted(container["args"])
        assert pod["securityContext"]["runAsNonRoot"]
        assert container["securityContext"]["readOnlyRootFilesystem"]
        assert container["resources"]["limits"]["memory"]
        assert pod.get("terminationGracePeriodSeconds", 60) > 30 or container["args"] == ["beat"]  # jobs in hand: 30 s
    kinds = ("ConfigMap", "Secret")
    given = [each for _, each in manifests(deploy / "kubernetes") if each["kind"] in kinds]
    load_settings(**settings_in({k: v for each in given for k, v in (each.get("data") or each["stringData"]).items()}))


def test_the_autoscaler_asks_for_a_metric_that_we_show(deploy: Path) -> None:
    scaler = next(each for _, each in manifests(deploy / "kubernetes") if each["kind"] == "HorizontalPodAutoscaler")
    metric = scaler["spec"]["metrics"][0]["external"]["metric"]
    shown: dict[str, Any] = {family.name: family for family in Gauges().describe()}
    assert list(metric["selector"]["matchLabels"]) == list(shown[metric["name"]]._labelnames)
    adapter = yaml.safe_load((deploy / "kubernetes" / "prometheus-adapter.yaml").read_text())
    assert metric["name"] in adapter["rules"]["external"][0]["seriesQuery"]


def test_systemd_is_content_with_the_units(deploy: Path, tmp_path: Path, do_without: Callable[[str], NoReturn]) -> None:
    program = shutil.which("systemd-analyze") or do_without("no systemd-analyze: install systemd")
    here = str(Path(sys.executable).parent / "tidemill")  # what the units start must be there
    for file in (deploy / "systemd").glob("tidemill*"):
        (tmp_path / file.name).write_text(file.read_text().replace(IN_PLACE, here))
    words = [program, "verify", "--man=no", *(str(tmp_path / name) for name in UNITS)]
    said = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (said.returncode, said.stderr) == (0, "")


def test_the_units_and_the_procfile_start_commands_of_ours(deploy: Path) -> None:
    units = "".join(file.read_text() for file in (deploy / "systemd").glob("*.service"))
    started = re.findall(rf"{IN_PLACE} (.*?)(?:'.*)?$", units, re.MULTILINE)
    started += re.findall(r"^\w+: tidemill (.*)$", (deploy / "Procfile").read_text(), re.MULTILINE)
    assert len(started) == 9
    for command in started:
        accepted([re.sub(r"\$\{.*\}", "8420", word) for word in shlex.split(command)])
    example = (deploy / "systemd" / "tidemill.env.example").read_text()
    load_settings(**settings_in(dict(re.findall(r'^#?(TIDEMILL_\w+)="?(.*?)"?$', example, re.MULTILINE))))
