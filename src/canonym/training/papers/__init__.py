"""The training objectives of the five papers, one per file."""

from canonym.training.papers.biosyn import BioSyn
from canonym.training.papers.coder import Coder
from canonym.training.papers.dilbert import Dilbert
from canonym.training.papers.few_shot import FewShot
from canonym.training.papers.triplet_search import BatchHard

__all__ = ["BatchHard", "BioSyn", "Coder", "Dilbert", "FewShot"]
