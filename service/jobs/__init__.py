"""Batch jobs: a whole exam graded in the background, through crashes and restarts."""

from service.jobs.job import Counts, Failure, Item, Job, JobState, NewItem, Reason
from service.jobs.results import Ungraded, results
from service.jobs.runner import JobRunner
from service.jobs.store import JobStore
from service.jobs.submission import items_of_exam, items_of_file

__all__ = [
    "Counts",
    "Failure",
    "Item",
    "Job",
    "JobRunner",
    "JobState",
    "JobStore",
    "NewItem",
    "Reason",
    "Ungraded",
    "items_of_exam",
    "items_of_file",
    "results",
]
