"""The JSON that the service reads and answers, as models of pydantic; names and rules are the library's."""

from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any, Literal, TypeAlias, get_type_hints

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    WrapValidator,
    create_model,
)
from pydantic.json_schema import SkipJsonSchema

from lowregret._common.spec_errors import first_error
from lowregret._common.validation import MAX_HORIZON, MAX_MAGNITUDE, MAX_SEED, short_repr
from lowregret.errors import InputError
from lowregret.online import verdict
from lowregret.online.agent_settings import (
    DEFAULTS,
    MAX_REQUEST_SIZE,
    SETTING_TYPES,
    Settings,
    settings_from,
    valid_arm,
    valid_name,
    valid_request,
)
from lowregret.online.decisions import STATUS_EVENTS, Kind, Status
from lowregret.online.decisions import Request as RequestName
from lowregret.policies.policy_string import policy as our_policy
from lowregret.service.protocol import MAX_BATCH

MAX_BODY_BYTES = 1_000_000
MAX_ARM_LENGTH = 200
MAX_AGENT_ARMS = 10_000


class StrictModel(BaseModel):
    """A JSON object with no other keys and no conversion between types."""

    model_config = {"extra": "forbid", "strict": True, "allow_inf_nan": False}


def _check_window(value: Any, validate: Callable[[Any], Any]) -> int | dict[str, float]:
    """Allow a window that a date can represent."""
    with suppress(ValidationError):
        window: int | dict[str, float] = validate(value)
        if not isinstance(window, dict) or 0.0 < window.get("seconds", 0.0) <= 1e9:
            return window
    raise InputError('a window is a number of decisions or {"seconds": S} with 0 < S <= 1e9')


Name = Annotated[
    str,
    AfterValidator(valid_name),
    Field(max_length=64, examples=["buttons"], json_schema_extra={"pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$"}),
]
Number: TypeAlias = Annotated[float, Field(ge=-MAX_MAGNITUDE, le=MAX_MAGNITUDE)]
Share: TypeAlias = Annotated[float, Field(ge=0.0, le=1.0)]
Arm = Annotated[str, Field(min_length=1, max_length=MAX_ARM_LENGTH, examples=["red"])]
Request = Annotated[
    str,
    AfterValidator(valid_request),
    Field(max_length=MAX_REQUEST_SIZE, examples=["visit 17"], json_schema_extra={"minLength": 1}),
]
DecisionId = Annotated[str, Field(max_length=100, examples=["0f6b9c1d2e3f4a5b6c7d8e9f00112233-1"])]
JsonWindow = Annotated[
    Annotated[int, Field(ge=1, le=MAX_HORIZON)] | dict[Literal["seconds"], float],
    WrapValidator(_check_window),
    Field(examples=[1_000, {"seconds": 3600}]),
]


FlagValue: TypeAlias = bool | str | Number | dict[str, Any]
SETTING_FIELDS: dict[str, Any] = {
    **SETTING_TYPES,
    "policy": Annotated[str, Field(max_length=200, examples=["EUCBV", "UCB1(alpha=1)"])],
    "arms": Annotated[
        list[Arm], Field(min_length=1, max_length=MAX_AGENT_ARMS, examples=[["red", "green", "blue"]])
    ],
    "horizon": Annotated[int, Field(ge=1, le=MAX_HORIZON)] | None,
    "seed": Annotated[int, Field(ge=0, le=MAX_SEED)],
    "reward_range": Annotated[list[Number], Field(min_length=2, max_length=2)] | None,
    "matures_after": JsonWindow | None,
    "expires_after": JsonWindow | None,
    "period": JsonWindow | None,
    "default_reward": Number | None,
    "minimum_share": Share,
    "control": Annotated[list[Arm | Share], Field(min_length=2, max_length=2)] | None,
    "values": dict[Arm, FlagValue] | None,
    "prior": dict[Arm, Annotated[list[Number], Field(min_length=2, max_length=3)]] | None,
}
_KEYS: Any = {name: (kind, DEFAULTS.get(name, ...)) for name, kind in SETTING_FIELDS.items()}


class NewAgent(create_model("SettingsModel", __base__=StrictModel, **_KEYS)):  # type: ignore[misc]
    """The agent to create; the keys are the arguments of ``lowregret.open_agent``."""

    name: Name

    def settings(self) -> Settings:
        """Return the settings of the agent, validated; the policy is one of ours, and nothing is imported."""
        for arm in self.arms:
            valid_arm(arm)
        return settings_from(dict(self), our_policy(self.policy))


class Ask(StrictModel):
    """How many decisions, among which arms, and the name that makes the call idempotent."""

    n: Annotated[int, Field(ge=1, le=MAX_BATCH)] = 1
    only: Annotated[list[Arm], Field(min_length=1, max_length=MAX_AGENT_ARMS)] | None = None
    request: Request | None = None


class Reward(StrictModel):
    """The reward of a decision, which its id or the request that made it names."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["id"]}, {"required": ["request"]}]})

    id: DecisionId | SkipJsonSchema[None] = None
    request: Request | SkipJsonSchema[None] = None
    reward: Number

    @property
    def reference(self) -> str | RequestName:
        if len(self.model_fields_set) != 2 or self.id == self.request:  # one of them is the reward
            raise InputError(f"a reward has an id or a request, one of the two, got {short_repr(dict(self))}")
        return str(self.id) if self.request is None else RequestName(self.request)


class Tell(StrictModel):
    """Rewards; one that is rejected does not hinder the others."""

    rewards: Annotated[list[Reward], Field(max_length=MAX_BATCH)]


class Observed(StrictModel):
    """A decision that somebody else made, its reward, and the name that makes the call idempotent."""

    arm: Arm
    reward: Number
    propensity: Annotated[float, Field(gt=0.0, le=1.0)] | None = None
    request: Request | None = None


class Observe(StrictModel):
    """Decisions that somebody else made: all of them enter the statistics, or none."""

    decisions: Annotated[list[Observed], Field(max_length=MAX_BATCH)]


class Forget(StrictModel):
    """Decisions whose rewards will never be reported, by id or request: all are discarded, or none."""

    ids: Annotated[list[DecisionId], Field(max_length=MAX_BATCH)] = []
    requests: Annotated[list[Request], Field(max_length=MAX_BATCH)] = []


class ChangeArms(StrictModel):
    """An arm to add, with the value that a flag has for it, or one to retire."""

    add: Arm | None = None
    retire: Arm | None = None
    value: FlagValue | None = None


class ChangeStatus(StrictModel):
    """Whether the agent makes decisions, and the arm to show while it is paused; "retired" is final."""

    status: Status
    fallback: Arm | None = None

    def event(self) -> Kind:
        """Return the kind of event that changes the status to this."""
        return next(kind for kind, status in STATUS_EVENTS.items() if status == self.status)


class Decided(BaseModel):
    """A decision."""

    id: DecisionId
    arm: Arm
    time: int
    propensity: float | None
    timestamp: float | None


class Decisions(BaseModel):
    """Decisions, in the order in which they were made."""

    decisions: list[Decided]


class Told(BaseModel):
    """How many rewards, or decisions to discard, were new."""

    new: int


class ArmNames(BaseModel):
    """The arms that are not retired."""

    arms: list[Arm]


class Overview(BaseModel):
    """The state of an agent."""

    name: str
    policy: str
    arms: int
    pulls: int
    pending: int
    conflicts: int
    status: Status


class Changed(Overview):
    """The state of an agent, and whether the call changed its status."""

    changed: bool


class Unavailable(BaseModel):
    """An agent that the service cannot use, and why."""

    name: str
    detail: str


class Overviews(BaseModel):
    """Agents in the order of their creation, the position of the last, and how many the store has."""

    agents: list[Overview]
    unavailable: list[Unavailable]
    position: int
    total: int


class ArmSummary(BaseModel):
    """One arm: see ``Agent.summary``."""

    arm: str
    pulls: int
    pending: int
    mean: float | None
    low: float | None
    high: float | None
    state: str
    share: float
    to_leader_low: float | None
    to_leader_high: float | None
    to_control_low: float | None
    to_control_high: float | None
    prior: int = 0
    adjusted: float | None = None


class Loss(BaseModel):
    """The estimated loss of reward so far, from the means of the arms, and an upper bound of the regret."""

    against_best: float | None
    regret_bound: float | None


class Gain(BaseModel):
    """What the policy earned more than the control arm would have, with its interval (about 95%)."""

    estimate: float
    low: float
    high: float


class PeriodMean(BaseModel):
    """The mean reward of the decisions of a period, and what the means of their arms predict."""

    period: str
    pulls: int
    mean: float
    expected: float


class Summary(Overview):
    """An agent and its arms, and the means of its latest periods: its own, or days of UTC."""

    settings: dict[str, Any]
    table: list[ArmSummary]
    loss: Loss
    gain_over_control: Gain | None
    periods: list[PeriodMean]
    notes: list[str]


class Shadow(BaseModel):
    """How often the agent would have agreed with others, what these earned, and what it would have earned."""

    observed: int
    agreed: int
    earned: float | None
    would_have_earned: float | None
    se: float | None
    low: float | None
    high: float | None
    without_propensity: int


_fields: Any = {name: (kind, ...) for name, kind in get_type_hints(verdict.Verdict).items()}
Verdict = create_model("Verdict", __doc__="Which arm is the best: see ``Agent.verdict``.", **_fields)


class Rejected(BaseModel):
    """A reward that was not recorded: its place in the call, from 0, and why."""

    index: int
    type: Annotated[str, Field(examples=["urn:lowregret:conflict"])]
    detail: str


class Problem(BaseModel):
    """What went wrong, in one sentence: problem details of RFC 9457.

    ``rejected`` lists the rewards that were not recorded, where the others of the call were.
    """

    type: Annotated[str, Field(examples=["urn:lowregret:conflict"])]
    title: str
    status: int
    detail: str
    rejected: list[Rejected] | SkipJsonSchema[None] = None


def parse_body(model: type[BaseModel], body: bytes) -> Any:
    """Return a body as a model; an error is one sentence."""
    try:
        return model.model_validate_json(body or b"{}")
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)[0]
        if details["type"] == "json_invalid":
            raise InputError(f"the body is not JSON: {details['ctx']['error']}") from None
        raise InputError(str(first_error(error, model))) from None
