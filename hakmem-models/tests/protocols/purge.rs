//! Free granules that go back to the system while others take and give granules: `segment::{shard, pool}`.

use hakmem_models::base::size_class::GRANULE;
use hakmem_models::segment::pool::Span;
use hakmem_models::segment::shard::{self, Shard};
use hakmem_models::{model, os};

const GRANULES: u32 = 4;

fn take(shard: &Shard) -> Span {
    let span = shard
        .lock()
        .take_span(GRANULES)
        .expect("the arena has room");
    // Panics when somebody holds or purges any of it.
    os::hold(span.base, GRANULES as usize * GRANULE);
    span
}

fn give(shard: &Shard, span: Span) -> bool {
    os::let_go(span.base);
    // SAFETY: the span was taken from this shard and is not used any more.
    unsafe { shard.lock().give_span(span.base, span.home, GRANULES) }
}

/// A shard with `spans` free spans that are resident.
fn dirty_shard(spans: usize) -> &'static Shard {
    model::heap(2);
    let shard = shard::of_owner(2);
    let spans: Vec<_> = (0..spans).map(|_| take(shard)).collect();
    for span in spans {
        give(shard, span);
    }
    shard
}

fn assert_at_rest(shard: &Shard) {
    let pool = shard.lock();
    assert_eq!(pool.check(), Ok(()));
    assert_eq!(pool.used, 0);
}

/// One thread purges, one takes a span, uses it and gives it back: what is purged is nobody's.
#[test]
fn what_is_being_purged_is_neither_free_nor_used() {
    model::check(2, || {
        let shard = dirty_shard(2);
        let purger = model::spawn(|| shard.purge_all());
        let span = take(shard);
        if give(shard, span) {
            shard.purge_excess();
        }
        purger.join().unwrap();
        assert_at_rest(shard);
        assert!(os::purges() > 0);
    });
}

/// Two purge everything, and unmap what is empty, while one uses a span: no SuperSlab goes while any of it is used or
/// being purged.
#[test]
fn a_super_slab_stays_mapped_while_it_is_used_or_purged() {
    model::check(1, || {
        let shard = dirty_shard(2);
        let purger = model::spawn(|| shard.purge_all());
        let user = model::spawn(|| {
            let span = take(shard);
            give(shard, span);
        });
        shard.purge_all();
        purger.join().unwrap();
        user.join().unwrap();
        assert_at_rest(shard);
        shard.purge_all();
        assert_eq!(shard.lock().stats().mapped, 0);
        assert_eq!(shard.lock().stats().dirty, 0);
    });
}
