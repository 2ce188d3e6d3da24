"""Words by which vendors' APIs, and servers that are compatible with OpenAI's chat, say why a reply ended."""

from collections.abc import Mapping

from backend.domain.ports.model import StopReason

ANTHROPIC: Mapping[str, StopReason] = {
    "end_turn": StopReason.END,
    "stop_sequence": StopReason.END,
    "max_tokens": StopReason.LENGTH,
    "model_context_window_exceeded": StopReason.LENGTH,
    "tool_use": StopReason.TOOL,
    "refusal": StopReason.REFUSAL,
    "pause_turn": StopReason.PAUSE,
    "compaction": StopReason.PAUSE,
}
GEMINI: Mapping[str, StopReason] = {
    "STOP": StopReason.END,
    "MAX_TOKENS": StopReason.LENGTH,
    "SAFETY": StopReason.REFUSAL,
    "RECITATION": StopReason.REFUSAL,
    "LANGUAGE": StopReason.REFUSAL,
    "BLOCKLIST": StopReason.REFUSAL,
    "PROHIBITED_CONTENT": StopReason.REFUSAL,
    "SPII": StopReason.REFUSAL,
    "IMAGE_SAFETY": StopReason.REFUSAL,
    "IMAGE_PROHIBITED_CONTENT": StopReason.REFUSAL,
    "IMAGE_RECITATION": StopReason.REFUSAL,
    "MALFORMED_FUNCTION_CALL": StopReason.MALFORMED,
    "UNEXPECTED_TOOL_CALL": StopReason.MALFORMED,
    "TOO_MANY_TOOL_CALLS": StopReason.MALFORMED,
    "MISSING_THOUGHT_SIGNATURE": StopReason.MALFORMED,
    "MALFORMED_RESPONSE": StopReason.MALFORMED,
    "MODEL_ARMOR": StopReason.REFUSAL,
    "ESCALATION": StopReason.REFUSAL,
    "PUP_LIMITED_DISABLED": StopReason.REFUSAL,
    "CONTINUATION": StopReason.LENGTH,
    "OTHER": StopReason.UNCLEAR,
    "IMAGE_OTHER": StopReason.UNCLEAR,
    "NO_IMAGE": StopReason.UNCLEAR,
    "FINISH_REASON_UNSPECIFIED": StopReason.UNCLEAR,
}
_CHAT: Mapping[str, StopReason] = {
    **{word.lower(): stop for word, stop in GEMINI.items()},
    **ANTHROPIC,
    "eos": StopReason.END,
    "eos_token": StopReason.END,
    "complete": StopReason.END,
    "completed": StopReason.END,
    "length": StopReason.LENGTH,
    "model_length": StopReason.LENGTH,
    "max_output_tokens": StopReason.LENGTH,
    "max_length": StopReason.LENGTH,
    "context_length_exceeded": StopReason.LENGTH,
    "tool_calls": StopReason.TOOL,
    "function_call": StopReason.TOOL,
    "content_filter": StopReason.REFUSAL,
    "sensitive": StopReason.REFUSAL,
    "guardrail_intervened": StopReason.REFUSAL,
    "error_toxic": StopReason.REFUSAL,
    "token_limit": StopReason.LENGTH,
    "max_completion_tokens": StopReason.LENGTH,
    "tool_call": StopReason.TOOL,
    "content_filtered": StopReason.REFUSAL,
    "malformed_tool_use": StopReason.MALFORMED,
    "malformed_model_output": StopReason.MALFORMED,
}
"""OpenAI's, those of compatible servers, and other vendors' own, which such servers pass on; some write capitals."""
_COMPLETE = frozenset({StopReason.END, StopReason.TOOL, StopReason.UNCLEAR})


def chat_stop(word: object) -> StopReason:
    """Why a chat reply ended. Google's server writes two words: `function_call_filter: MALFORMED_FUNCTION_CALL`."""
    own, _, detail = (part.strip() for part in str(word).lower().partition(":"))
    if not detail:
        return _CHAT.get(own, StopReason.UNCLEAR)
    problems = (_CHAT.get(part, StopReason.UNCLEAR) for part in (detail, own))
    return next((stop for stop in problems if stop not in _COMPLETE), StopReason.UNCLEAR)
