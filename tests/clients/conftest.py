"""What `make clients` was run with."""

from importlib import metadata

PACKAGES = (
    "sb3-contrib",
    "stable-baselines3",
    "torchrl",
    "tensordict",
    "tianshou",
    "torch",
    "gymnasium",
    "pettingzoo",
)


def pytest_report_header():
    installed = {
        dist.name.lower().replace("_", "-"): dist.version for dist in metadata.distributions()
    }
    return "clients: " + ", ".join(
        f"{name} {installed[name]}" for name in PACKAGES if name in installed
    )
