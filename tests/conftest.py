"""Shared settings: hypothesis without deadlines, since the first example compiles."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "lowregret", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("lowregret")
