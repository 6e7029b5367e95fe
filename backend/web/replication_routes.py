"""Routes on the same study again: make it, and test its runs against each other."""

from backend.experiment.records import Study
from backend.foundation.errors import InvalidInput
from backend.jobs import queue
from backend.members.roles import RESEARCHER
from backend.web.authorisation import caller
from backend.web.context import Context
from backend.web.job_routes import enqueued
from backend.web.job_types import Enqueued
from backend.web.plan_types import ReplicationWish, RerunOrdered, RerunSchedule, RerunWish, ScheduleWish
from backend.web.routing import Routes

route = Routes(RESEARCHER)


@route("POST /api/studies/{study}/rerun", "409 503", status=202)
def rerun_study(context: Context, study: Study, wanted: RerunWish) -> RerunOrdered:
    """Make a study like another one for other people; while it is being made, the same order returns its job.

    Returns:
        It is being made.
    """
    from backend.administration.rerun import check, free_name

    store, member = context.store, caller()
    name = wanted.name or free_name(store, study.name)
    args = {"of": {"study": study.name, "created_at": study.created_at}}
    same = ("rerun", name, member.name, args)
    open_jobs = queue.open_jobs(store)
    job = next((job for job in open_jobs if (job.kind, job.study, job.member, job.args) == same), None)
    if job is None:
        check(store, study, name)
        job = queue.enqueue(store, "rerun", name, member.name, args, context.clock())
    return {"job": job.id, "study": name}


@route("GET /api/studies/{study}/rerun-schedule")
def show_schedule(context: Context, study: Study) -> RerunSchedule:
    """When a study is made again by itself.

    Returns:
        Its schedule; nulls without one.
    """
    from backend.jobs.rerun_schedule import schedule_of

    schedule = schedule_of(context.store, study)
    return (
        {"days": schedule.days, "next_at": schedule.next_at} if schedule else {"days": None, "next_at": None}
    )


@route("POST /api/studies/{study}/rerun-schedule", "409 503")
def set_schedule(context: Context, study: Study, wanted: ScheduleWish) -> RerunSchedule:
    """Have a study made again every so many days from now on, or no longer.

    Returns:
        The schedule from now on.
    """
    from backend.jobs.rerun_schedule import schedule, unschedule

    if wanted.days:
        schedule(context.store, study, wanted.days, context.clock())
    else:
        unschedule(context.store, study)
    return show_schedule(context, study)


@route("POST /api/studies/{study}/replicate", "503", status=202)
def compare_runs(context: Context, study: Study, wanted: ReplicationWish) -> Enqueued:
    """Test a study and other runs of it against each other, in this order.

    Returns:
        They are being compared; the comparison is the job's result.
    """
    names = [study.name, *wanted.others]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InvalidInput(f"{twice[0]} is named twice; a run is compared with other ones")
    others = [context.store.study(name) for name in wanted.others]
    args = {
        "others": [{"study": other.name, "created_at": other.created_at} for other in others],
        "margin": wanted.margin,
        "level": wanted.level,
        "simulated": wanted.simulated,
    }
    return enqueued(context, "replicate", study, args)
