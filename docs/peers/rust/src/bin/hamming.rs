//! Signatures to all pairs that differ in few bits: all-pairs-hamming, the search of find-simdoc.
//!
//! usage: hamming DISTANCE < PRINTS
//!
//! PRINTS is that of simhash_texts.py --prints. Prints one line of JSON.

use std::io::Read;
use std::time::Instant;

use all_pairs_hamming::simple_join::SimpleJoiner;

fn main() {
    let distance: f64 = std::env::args().nth(1).expect("distance").parse().expect("distance");
    let mut all = String::new();
    std::io::stdin().read_to_string(&mut all).expect("hexadecimal numbers");
    let prints: Vec<u64> = all.lines().map(|l| u64::from_str_radix(l, 16).expect("hexadecimal number")).collect();
    let mut best = f64::INFINITY;
    let mut pairs = 0;
    for _ in 0..5 {
        let start = Instant::now();
        let mut joiner = SimpleJoiner::<u64>::new(1);
        for &p in &prints {
            joiner.add([p]).unwrap();
        }
        pairs = joiner.similar_pairs((distance + 0.5) / 64.0).len(); // no distance is on the edge
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!(
        "{{\"name\": \"all-pairs-hamming\", \"texts\": {}, \"pairs\": {}, \"find-ms\": {:.1}}}",
        prints.len(), pairs, best * 1000.0
    );
}
