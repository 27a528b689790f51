"""A walk through five lecture notes: each theorem stated, computed live and drawn, and what the notes got wrong.

>>> from tightrope import tour
>>> [lesson.name for lesson in tour.lessons()]
['relaxations', 'variants', 'testing', 'renyi', 'rounding', 'errata']
"""

from tightrope.tour.reading import Lesson, lesson, lessons

__all__ = ["Lesson", "lesson", "lessons"]
