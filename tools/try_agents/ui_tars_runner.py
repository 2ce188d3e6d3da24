"""A runner for the parser `ui-tars` of PyPI, which has none of its own. Runs in the agents' environment.

Usage: ui_tars_runner.py TASK.json RESULT_FOLDER
"""

import base64
import json
import os
import sys
from pathlib import Path
from typing import Any

from openai import OpenAI
from ui_tars.action_parser import parse_action_to_structure_output, parsing_response_to_pyautogui_code

from deskarena.desktop_env import DesktopEnv

SIZE = {"image_height": 1080, "image_width": 1920}
MOST_STEPS = 15
ORIGIN = {"origin_resized_height": 1080, "origin_resized_width": 1920}


def main() -> None:
    """One task, from reset to evaluate."""
    task, results = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    model = OpenAI(base_url=os.environ["DOUBAO_API_URL"], api_key=os.environ["DOUBAO_API_KEY"])
    env = DesktopEnv(action_space="pyautogui", require_a11y_tree=False)
    observation, done, steps = env.reset(task_config=task), False, 0
    while not done and steps < MOST_STEPS:
        picture = base64.b64encode(observation["screenshot"]).decode()
        content = [
            {"type": "text", "text": task["instruction"]},
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture}"}},
        ]
        messages: Any = [{"role": "user", "content": content}]
        answer = model.chat.completions.create(model="ui-tars", messages=messages)
        parsed = parse_action_to_structure_output(
            answer.choices[0].message.content, factor=1000, model_type="doubao", **ORIGIN
        )
        observation, _, done, _ = env.step(parsing_response_to_pyautogui_code(parsed, **SIZE))
        steps += 1
    results.mkdir(parents=True, exist_ok=True)
    (results / "result.txt").write_text(f"{env.evaluate()}\n")
    env.close()


if __name__ == "__main__":
    main()
