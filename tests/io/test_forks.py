"""What is renewed in forked children."""

from __future__ import annotations

import gc

from canonym.io import forks


class Owner:
    """Counts how often it was renewed."""

    renewed = 0

    def renew(self) -> None:
        self.renewed += 1


def test_a_child_renews_what_lives() -> None:
    owner, other = Owner(), Owner()
    for one in (owner, other):
        forks.on_fork(one, Owner.renew)
    n = len(forks._renewals)
    forks._renew_all()
    assert (owner.renewed, other.renewed) == (1, 1)
    del other, one
    gc.collect()
    assert len(forks._renewals) < n


def test_a_lock_is_free_in_a_child() -> None:
    lock = forks.Lock()
    with lock:
        assert not lock._lock.acquire(blocking=False)
    lock._lock.acquire()
    forks._renew_all()
    with lock:
        assert lock._lock.locked()
    assert not lock._lock.locked()
