//! Strings, vectors, trees and hash maps, sent between threads; prints sums.
use std::collections::{BTreeMap, HashMap};
use std::sync::mpsc;
use std::thread;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }
}

fn words(seed: u64) -> BTreeMap<String, Vec<Box<str>>> {
    let mut random = Random(seed);
    let mut tree: BTreeMap<String, Vec<Box<str>>> = BTreeMap::new();
    for _ in 0..50_000 {
        let text = "x".repeat(random.below(200) as usize).into_boxed_str();
        tree.entry(format!("key{}", random.below(7000)))
            .or_default()
            .push(text);
        if random.below(4) == 0 {
            tree.remove(&format!("key{}", random.below(7000)));
        }
    }
    tree
}

fn main() {
    let (sender, receiver) = mpsc::channel();
    let makers: Vec<_> = (1..=4)
        .map(|seed| {
            let sender = sender.clone();
            thread::spawn(move || sender.send((seed, words(seed))).unwrap())
        })
        .collect();
    drop(sender);
    let mut sums: Vec<_> = receiver // freed here, made elsewhere
        .into_iter()
        .map(|(seed, tree)| {
            (
                seed,
                tree.len(),
                tree.values()
                    .flatten()
                    .map(|text| text.len())
                    .sum::<usize>(),
            )
        })
        .collect();
    makers.into_iter().for_each(|maker| maker.join().unwrap());
    sums.sort();
    println!("trees {sums:?}");

    let mut counts: HashMap<String, usize> = HashMap::new();
    for number in 0..200_000_u64 {
        *counts
            .entry((number * 7919 % 50_021).to_string())
            .or_default() += 1;
    }
    println!("counts {} {}", counts.len(), counts.values().max().unwrap());
}
