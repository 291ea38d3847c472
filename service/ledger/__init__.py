"""The ledger: the local record of every grade, and its way to the graph."""

from service.ledger.ledger import Ledger
from service.ledger.publishing import PublishedGrade
from service.ledger.shipper import GraphShipper

__all__ = ["GraphShipper", "Ledger", "PublishedGrade"]
