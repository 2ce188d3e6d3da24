"""Videos of attempts."""

from backend.db.session import read_only, unit_of_work
from backend.services.export import videos as service
from backend.services.export.videos import VideoView
from backend.web.api_common import Id, api_router
from backend.web.dependencies import AppContext, EdgeDep, SessionDep

router = api_router("videos")


@router.get("/attempts/{attempt_id}/video")
def show(session: SessionDep, attempt_id: Id) -> VideoView:
    """Show the video of an attempt."""
    return service.get(session, attempt_id)


@router.post("/attempts/{attempt_id}/video", status_code=201)
def make(edge: EdgeDep, attempt_id: Id) -> VideoView:
    """Make the MP4 of an ended attempt, by the ffmpeg program of the service's machine. Again: the same video.

    The answer comes when it is made, within three minutes.
    """
    return ensure_video(edge, attempt_id)


def ensure_video(edge: AppContext, attempt_id: Id) -> VideoView:
    """The video, made if there is none; no transaction is open meanwhile."""
    with read_only(edge.factory) as session:
        video = service.find(session, attempt_id)
        if video is not None:
            return video
        planned = service.plan(session, attempt_id)
    sha256, size = service.make(planned, edge.store)
    with unit_of_work(edge.factory) as session:
        return service.keep(session, attempt_id, sha256, size)
