"""A person's mouse and keyboard, from the page of an episode to its desktop.

The page sends JSON texts: `{"kind": "act", "n": 3, "actions": [typed Action]}`, `{"kind": "take"}`, `{"kind": "give"}`.
It is told `{"kind": "state", "mine", "taken", "step", "state"}` whenever something changes, and `{"kind": "refused",
"n", "why"}` for what was not passed on. Nothing of it is trusted: the size, the rate and every action are checked here,
and again by the worker.
"""

import asyncio
import contextlib
import json
import time
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, WebSocket, WebSocketDisconnect

from backend.db.session import unit_of_work
from backend.domain.errors import Invalid, NotFound, Unavailable
from backend.domain.model.episode import AttemptState
from backend.domain.model.run import ScreenSize
from backend.domain.people.remote_input import read_hand
from backend.services import events
from backend.services.agents import agent_channel_store
from backend.services.agents.agent_channel_store import ReplyStatus
from backend.services.people import takeover, takeover_store
from backend.services.people.takeover import ControlledAttempt
from backend.web.dependencies import AppContext
from backend.web.socket_lifetime import ENDED, GONE

router = APIRouter()
MOST_BYTES = 65_536
"""Of one message: a pasted text of 10,000 characters fits, whatever they are."""
BURST, RATE = 40.0, 20.0
"""So many messages at once, and so many a second in the long run."""
KEEP_SECONDS = 2.0
Hand = Annotated[str, Query(pattern="^[A-Za-z0-9-]{8,64}$")]


def read_attempt(edge: AppContext, attempt_id: UUID) -> ControlledAttempt:
    """The attempt as it stands, in a transaction of its own. Raises NotFound."""
    with unit_of_work(edge.factory) as session:
        return takeover.controlled(session, attempt_id)


@router.websocket("/ws/attempts/{attempt_id}/control")
async def control(socket: WebSocket, attempt_id: UUID, hand: Hand) -> None:
    """See the module's text. `hand`: what this page calls itself, so that it keeps the desktop over a reload."""
    edge: AppContext = socket.app.state.edge
    await socket.accept()
    try:
        attempt = await asyncio.to_thread(read_attempt, edge, attempt_id)
    except NotFound:
        await socket.close(GONE, "there is no such attempt")
        return
    except Unavailable:
        await socket.close(1013, "the database is away")
        return
    if not attempt.live:
        await socket.close(ENDED, "the attempt has ended")
        return
    await _TakeoverSession(socket, edge, attempt, hand).run()


@dataclass
class _Allowance:
    """A bucket of messages that fills by itself."""

    left: float = BURST
    at: float = 0.0

    def take(self) -> bool:
        now = time.monotonic()
        self.left = min(BURST, self.left + (now - self.at) * RATE) if self.at else BURST
        self.at = now
        if self.left < 1.0:
            return False
        self.left -= 1.0
        return True


class _TakeoverSession:
    """One page's talk."""

    def __init__(self, socket: WebSocket, edge: AppContext, attempt: ControlledAttempt, hand: str) -> None:
        self._socket = socket
        self._edge = edge
        self._found = attempt
        self._hand = hand
        self._mine = False
        self._holder = ""
        self._allowance = _Allowance()
        self._sending = asyncio.Lock()

    async def run(self) -> None:
        if self._found.human or await takeover_store.holder(self._found.attempt_id) == self._hand:
            await self._take_over()
        tasks = [asyncio.create_task(part()) for part in (self._listen, self._tell, self._keep)]
        _, rest = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in rest:
            task.cancel()
        await asyncio.wait(tasks)
        for task in tasks:
            with contextlib.suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
                task.result()

    async def _listen(self) -> None:
        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            text = message.get("text")
            if text is None or len(text.encode()) > MOST_BYTES:
                await self._socket.close(1009, "the message is too large, or no text")
                return
            await self._heard(text)

    async def _heard(self, text: str) -> None:
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            await self._refuse(None, "that is no JSON object")
        elif not self._allowance.take():
            await self._refuse(message.get("n"), "too much at once; wait a moment")
        elif message.get("kind") == "act":
            await self._act(message)
        elif message.get("kind") == "take":
            await self._take_over()
            await self._state()
        elif message.get("kind") == "give" and not self._found.human:
            await takeover_store.give_hand(self._found.attempt_id, self._hand)
            self._mine, self._holder = False, ""
            await self._state()
        else:
            await self._refuse(message.get("n"), "nothing of that kind can be said here")

    async def _act(self, message: dict[str, Any]) -> None:
        number, attempt = message.get("n"), self._found
        if not isinstance(number, int) or not 0 <= number < 2**31:
            await self._refuse(None, "n is no number")
            return
        why = self._why_not()
        if not why:
            why = await self._pass_on(number, message.get("actions"), attempt.screen)
        if why:
            await self._refuse(number, why)

    def _why_not(self) -> str:
        if not self._mine:
            first = "the desktop is not to be had for now" if self._found.human else "take over first"
            return "somebody else has the desktop" if self._holder else first
        return "" if self._found.state == AttemptState.RUNNING else "the desktop is not ready"

    async def _pass_on(self, number: int, actions: Any, screen: ScreenSize) -> str:
        """Why not; empty if it is on its way."""
        try:
            checked = read_hand(actions, screen, may_end=self._found.human)
        except Invalid as error:
            return f"{error.path}: {error.message}"[:500]
        body = {"hand": self._hand, "by": "person", "actions": [one.model_dump(mode="json") for one in checked]}
        line = self._found.attempt_id if self._found.human else takeover_store.hand_line(self._found.attempt_id)
        result = await agent_channel_store.say(line, f"{self._hand}:{number}", body)
        return {
            ReplyStatus.AWAY: "the broker is away; try again",
            ReplyStatus.FULL: "the desktop is still busy with what came before",
            ReplyStatus.OTHER: "that number was used for something else",
        }.get(result, "")

    async def _take_over(self) -> None:
        self._mine = await takeover_store.take_hand(self._found.attempt_id, self._hand)
        self._holder = self._hand if self._mine else await takeover_store.holder(self._found.attempt_id)

    async def _tell(self) -> None:
        """The state whenever the run has something new, and every 2 s; ends with the attempt."""
        async with aclosing(events.subscribe_run(self._found.run_id, 0)) as signs:
            async for _ in signs:
                with contextlib.suppress(Unavailable):
                    self._found = await asyncio.to_thread(read_attempt, self._edge, self._found.attempt_id)
                if not self._found.live:
                    await self._socket.close(ENDED, "the attempt has ended")
                    return
                await self._state()

    async def _keep(self) -> None:
        """What has a short life in the broker lives on while the page is there.

        Nobody need ask again for what a broker that was away, or another page, kept from this one: a person who is the
        agent gets the desktop as soon as it is free.
        """
        while True:
            if self._mine or self._found.human or self._holder == self._hand:
                await self._take_over()
            else:
                self._holder = await takeover_store.holder(self._found.attempt_id)
            if self._mine:
                await events.mark_hurry(self._found.attempt_id)
                await agent_channel_store.mark_heard(self._found.attempt_id)
            await asyncio.sleep(KEEP_SECONDS)

    async def _state(self) -> None:
        attempt = self._found
        state = {"mine": self._mine, "taken": bool(self._holder), "step": attempt.step, "state": attempt.state.value}
        await self._send({"kind": "state", **state})

    async def _refuse(self, number: Any, why: str) -> None:
        await self._send({"kind": "refused", "n": number if isinstance(number, int) else None, "why": why})

    async def _send(self, message: dict[str, Any]) -> None:
        async with self._sending:
            await self._socket.send_json(message)
