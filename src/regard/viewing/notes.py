"""What a page must say about itself, in English and in Chinese."""
# ruff: noqa: RUF001 - Chinese has commas and brackets of its own

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from regard.viewing.tokens import plain

__all__ = [
    "Note",
    "a_part_of_the_data",
    "counted_from",
    "of_thumbnails",
    "pooled",
    "sampled",
    "scored",
    "without_weights",
]

Note: TypeAlias = dict[str, str]


def pooled(down: int, across: int, count: int) -> Note:
    """Cells instead of weights; ``count`` of the largest of each query are exact."""
    exact = f"the {count} largest weights of each query are exact"
    exact_zh = f"每个查询最大的 {count} 个权重是精确的"
    if count == 1:
        exact, exact_zh = "the largest weight of each query is exact", "每个查询最大的权重是精确的"
    if not count:
        exact, exact_zh = "no single weight is in this page", "页面中没有单个权重"
    return {
        "en": f"Pooled to stay small: a cell holds up to {down} x {across} tokens, and {exact}. "
        "A live view (regard view) shows every weight.",
        "zh": f"为减小体积，权重已合并：一格最多含 {down} x {across} 个词元，{exact_zh}。"
        "实时视图（regard view）可显示每一个权重。",
    }


def sampled(every: int, *, everywhere: bool = True) -> Note:
    """Not every query was read; or not of the longest of several maps."""
    if not everywhere:
        return {
            "en": f"Some maps are so long that only one of up to {every:,} queries was read: their "
            "cells and figures (≈) are estimates.",
            "zh": f"有些图太长，至多每 {every:,} 个查询只读一个：其中的数值（≈）是估计。",
        }
    return {
        "en": f"So long that only one of {every:,} queries was read: cells, and the figures of "
        "each head (≈), are estimates.",
        "zh": f"序列太长，每 {every:,} 个查询只读取了一个：格中的数值和各头的数值（≈）是估计。",
    }


def of_thumbnails(every: int) -> Note:
    """The same where everything is read as soon as it is looked at closely."""
    return {
        "en": f"For the small pictures and the figures of each head one of {every:,} queries was "
        "read. The map says of itself how many were.",
        "zh": f"小图和各头的数值每 {every:,} 个查询只读取了一个；大图另有说明。",
    }


def a_part_of_the_data(shown: int, of: int) -> Note:
    """More data than a page can average while a slider moves."""
    return {
        "en": f"{shown:,} of {of:,} points are in this page, chosen evenly along x; the curve is "
        "that of these.",
        "zh": f"页面只含 {of:,} 个点中的 {shown:,} 个，沿 x 均匀选取；曲线由这些点算出。",
    }


def counted_from(origin: float) -> Note:
    """Data far from 0, moved so that their distances are kept."""
    return {"en": f"x is counted from {origin:,g}.", "zh": f"x 从 {origin:,g} 算起。"}


def scored(texts: Sequence[str]) -> Note:
    """Ways to say the same, the best first, each with its score."""
    told = "; ".join(f"{i}: {plain(text)}" for i, text in enumerate(texts, 1))
    return {
        "en": f"From the best translation on, each with its log-probability for its length. {told}",
        "zh": f"最好的译文在前，括号中为按长度折算的对数概率。{told}",
    }


def without_weights() -> Note:
    """Points that count more or less than one another, drawn as if they did not."""
    return {
        "en": "The points have weights of their own, which this page leaves out: its curve is not "
        "quite that of the fit.",
        "zh": "各点自带权重，页面未计入：曲线与拟合结果略有不同。",
    }
