// Package pipeline holds the packages that know a workspace. It has no code of its
// own, only the tests of all stages together. Each package below may import only
// those above it:
//
//	rows        plain types that the stages hand on
//	queue       jobs of several workers, finished in order
//	costs       what a run takes: time, memory, the slowest pages
//	extsort     external sort: ordered rows, more of them than memory holds
//	blocks      rows in frames
//	layout      keys and values of rows
//	revisits    the captures that revisit records refer to
//	closing     clusters from what verify found, as functions on sorted rows
//	dataflow    the stages as functions from sorted rows to sorted rows
//	remote      objects at URLs
//	disk        files written whole
//	inputs      what arguments name
//	withdrawn   which captures have to stay out
//	groups      clusters with their pages, from sorted rows
//	extractors  extractors that need files
//	filters     the stages as programs from frames to frames
//	store       rows in Pebble
//	bloom       which signatures have postings, nearly
//	workspace   the directory: manifest, lock, inputs, states of stages, judgements
//	inflight    notes of the pages that are being read, for the run after a crash
//	preferences lists of page scores and of preferred hosts
//	results     what the stages wrote, for every reader
//	earlier     what verify found in an earlier run
//	learning    what sign and verify learn from all texts
//	withdrawals captures that are taken out and stay out
//	needs       the disk space that the stages take
//	stages      extract, sign, cluster, verify: dataflow over the tables of a workspace
//	spark       the plan of a run on a cluster, and its result as a workspace
//	reading     documents of inputs without a workspace; neardup text
//	sqljoin     joins in a database
//	textjoin    neardup join
//	keeping     the texts for keep lists
//	exports     neardup export
//	explaining  neardup explain
//	lookup      neardup lookup
//	checking    neardup check
//	browsing    neardup serve, neardup audit
//	statistics  neardup report
//	trials      neardup sweep, neardup compare, neardup paper
//	shorttexts  neardup paper tods, neardup paper simfinder
package pipeline
