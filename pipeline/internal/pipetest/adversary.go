package pipetest

import (
	"bufio"
	"crypto/md5"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
)

// Adversary writes pages that make an algorithm as expensive as possible.
type Adversary struct {
	Name  string
	Write func(w *PageWriter, n int) // writes n pages
}

// Adversaries are expensive collections. Each has pages that share a signature,
// since other pages are never compared.
var Adversaries = []Adversary{
	{"signatures", strangers},
	{"one-holds-all", oneHoldsAll},
	{"patchwork", patchwork},
	{"lcs", worstLCS},
	{"shuffled", shuffled},
	{"sliding", sliding},
	{"frames", frames},
	{"near", allNear},
}

// PageWriter writes lines of a collection: {"id", "url", "text"}.
type PageWriter struct {
	w   *bufio.Writer
	n   int
	err error
	rng *rand.Rand
}

// WriteAdversary writes n pages of an adversary to a file.
func WriteAdversary(path string, a Adversary, n int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := &PageWriter{w: bufio.NewWriter(f), rng: rand.New(rand.NewPCG(uint64(n), 17))}
	a.Write(w, n)
	return errors.Join(w.err, w.w.Flush(), f.Close())
}

// page writes a page of a site.
func (w *PageWriter) page(site int, sentences ...string) {
	line, err := json.Marshal(map[string]string{
		"id": TextURN(w.n), "url": fmt.Sprintf("http://site%d.example/%d", site, w.n), "text": strings.Join(sentences, " "),
	})
	w.n++
	if w.err == nil {
		w.err = err
	}
	if _, err := w.w.Write(append(line, '\n')); w.err == nil {
		w.err = err
	}
}

// sentence returns a sentence of words that occur in no other.
func (w *PageWriter) sentence(words int) string {
	var b strings.Builder
	for range words {
		for range 2 + w.rng.IntN(7) {
			b.WriteByte(byte('a' + w.rng.IntN(26)))
		}
		b.WriteByte(' ')
	}
	return strings.TrimSpace(b.String()) + "."
}

func (w *PageWriter) sentences(n, words int) (out []string) {
	for range n {
		out = append(out, w.sentence(words))
	}
	return out
}

// pagesOfBait is the number of pages that share a bait. It is below the limit of a
// signature's pages (cluster.max_list), so that the bait counts.
const pagesOfBait = 9_000

// bait returns three sentences that give a signature to every page that has them,
// with the default settings: their fingerprints, as numbers, are the smallest of a
// residue class of a rotation (package signature/ring). No two baits of a page have
// the same class.
func (w *PageWriter) bait(n int) (out []string) {
	const modulus = 7
	rotation, class := n/modulus, uint64(n%modulus)
	for len(out) < 3 {
		s := w.sentence(4)
		sum := md5.Sum([]byte(strings.TrimSuffix(s, ".")))
		turned := append(slices.Clone(sum[rotation:]), sum[:rotation]...)
		hi, lo := binary.BigEndian.Uint64(turned[:8]), binary.BigEndian.Uint64(turned[8:])
		if hi>>52 == 0 && bits.Rem64(hi, lo, modulus) == class {
			out = append(out, s)
		}
	}
	return out
}

// baits returns as many baits as n pages need.
func (w *PageWriter) baits(n int) (out [][]string) {
	for i := range 1 + n/pagesOfBait {
		out = append(out, w.bait(i))
	}
	return out
}

// join concatenates the parts.
func join(parts ...[]string) (out []string) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// strangers have a signature in common and nothing else, each on a site of its own.
// One page has all baits, so that they form one set.
func strangers(w *PageWriter, n int) {
	baits := w.baits(n)
	w.page(0, join(append(baits, w.sentences(200, 6))...)...)
	for i := 1; i < n; i++ {
		w.page(i, join(baits[i%len(baits)], w.sentences(17, 6))...)
	}
}

// oneHoldsAll has one page of 200,000 columns. The others, on sites of their own,
// are parts of it.
func oneHoldsAll(w *PageWriter, n int) {
	baits := w.baits(n)
	all := w.sentences(198_000/40, 6)
	w.page(0, join(append(baits, all)...)...)
	for i := 1; i < n; i++ {
		at := w.rng.IntN(len(all) - 17)
		w.page(i, join(baits[i%len(baits)], all[at:at+17])...)
	}
}

// worstLCS has texts of a few words in any order: every window is in all of them,
// but they share no order.
func worstLCS(w *PageWriter, n int) {
	baits := w.baits(n)
	words := []string{"aaaa", "bbbb", "abab"}
	for i := range n {
		var text []string
		for range 9 {
			var s []string
			for range 20 {
				s = append(s, words[w.rng.IntN(len(words))])
			}
			text = append(text, strings.Join(s, " ")+".")
		}
		w.page(i, join(baits[i%len(baits)], text)...)
	}
}

// shuffled has the same 90 sentences on each page, in another order.
func shuffled(w *PageWriter, n int) {
	all := w.sentences(90, 6)
	for i := range n {
		w.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		w.page(i, all...)
	}
}

// sliding has a chain of pages, each near its neighbours.
func sliding(w *PageWriter, n int) {
	text := w.sentences(30, 6)
	for i := range n {
		w.page(i, text...)
		text = append(text[2:], w.sentences(2, 6)...)
	}
}

// patchwork has pages on sites of their own. Each sentence is on about 24 of them,
// which is too many for an index to tell which, but any two pages share almost
// none.
func patchwork(w *PageWriter, n int) {
	baits := w.baits(n)
	w.patches(n, func(i int, text []string) { w.page(i, join(baits[i%len(baits)], text)...) })
}

// frames has one site on which each sentence is on about as many pages as a
// sentence of the frame needs, a page or two more or less.
func frames(w *PageWriter, n int) {
	w.patches(n, func(_ int, text []string) { w.page(0, text...) })
}

// patches calls page n times, each with a text of 24 sentences from a pool of the
// same size.
func (w *PageWriter) patches(n int, page func(i int, text []string)) {
	pool := w.sentences(max(24, n), 6)
	for i := range n {
		var text []string
		for range 24 {
			text = append(text, pool[w.rng.IntN(len(pool))])
		}
		page(i, text)
	}
}

// allNear has pages that differ from each other in two sentences of 30.
func allNear(w *PageWriter, n int) {
	all := w.sentences(30, 6)
	for i := range n {
		own := w.sentences(2, 6)
		w.page(i, join(all[:10], own[:1], all[11:20], own[1:], all[21:])...)
	}
}
