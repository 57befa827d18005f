"""Agents: everything that plays, by name. `agents.load("greedy")`, `agents.load("dmc:PATH")`."""

from agents.base import REGISTRY, Agent, AgentError, load
from ddz_env.vector import Legal

__all__ = ["REGISTRY", "Agent", "AgentError", "Legal", "load"]
