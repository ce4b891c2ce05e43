"""Count questions about a release: conditions, the SQL front, estimators and workloads."""

from sfumato.query.answer import Answer, Estimate, Estimator, GroupedAnswer, SeveralAnswers
from sfumato.query.count import count, count_many
from sfumato.query.language.predicate import Aggregate, And, Between, In, Like, Missing, Not, Or, Order, Query
from sfumato.query.language.sql import parse_sql
from sfumato.query.workload import (
    Workload,
    anatomy_workload,
    crosstab_workload,
    prefix_workload,
    range_workload,
    sql_workload,
    true_answers,
)

__all__ = [
    "Aggregate",
    "And",
    "Answer",
    "Between",
    "Estimate",
    "Estimator",
    "GroupedAnswer",
    "In",
    "Like",
    "Missing",
    "Not",
    "Or",
    "Order",
    "Query",
    "SeveralAnswers",
    "Workload",
    "anatomy_workload",
    "count",
    "count_many",
    "crosstab_workload",
    "parse_sql",
    "prefix_workload",
    "range_workload",
    "sql_workload",
    "true_answers",
]
