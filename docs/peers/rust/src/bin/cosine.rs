//! Texts to all pairs with a cosine at or above a threshold, exactly: difflib-fast's simjoin.
//!
//! usage: cosine THRESHOLD [words|characters] [SIZE] < TEXTS
//!
//! TEXTS has a text a line, after the last tab. A text is the set of its tokens, as in joins_texts.py; one without
//! any is left out. Prints one line of JSON.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::time::Instant;

use difflib_fast::simjoin::{cosine_join, Corpus};

fn tokens(text: &str, unit: &str, size: usize) -> HashSet<String> {
    let (units, between): (Vec<String>, &str) = if unit == "words" {
        (text.to_lowercase().split_whitespace().map(str::to_string).collect(), " ")
    } else {
        (text.chars().map(String::from).collect(), "")
    };
    if units.is_empty() {
        return HashSet::new();
    }
    units.windows(size.min(units.len())).map(|w| w.join(between)).collect()
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let threshold: f64 = args[1].parse().expect("threshold");
    let unit = args.get(2).map_or("words", String::as_str);
    let size: usize = args.get(3).map_or(1, |s| s.parse().expect("size"));
    let mut all = String::new();
    std::io::stdin().read_to_string(&mut all).expect("UTF-8");
    let texts: Vec<&str> = all.lines().map(|l| l.rsplit('\t').next().unwrap()).collect();

    let start = Instant::now();
    let mut ids: HashMap<String, u32> = HashMap::new();
    let mut rows: Vec<Vec<(u32, f64)>> = Vec::new();
    for text in &texts {
        let mut row = Vec::new();
        for token in tokens(text, unit, size) {
            let next = ids.len() as u32;
            row.push((*ids.entry(token).or_insert(next), 1.0));
        }
        if !row.is_empty() {
            rows.push(row);
        }
    }
    let cut = start.elapsed();
    // Normed in floating point, pairs exactly at the threshold would come and go: a little less has them all.
    let pairs = cosine_join(&Corpus::from_rows(&rows), threshold - 1e-9).len();
    println!(
        "{{\"name\": \"difflib-fast\", \"texts\": {}, \"pairs\": {}, \"tokenize-ms\": {}, \"ms\": {}}}",
        texts.len(), pairs, cut.as_millis(), start.elapsed().as_millis()
    );
}
