// Package pipeline holds the packages that know a workspace. It has no code of its
// own, only the tests of all stages together. Each package below may import those
// above it:
//
//	rows        plain types that the stages hand on
//	queue       jobs of several workers, finished in order
//	extsort     external sort: ordered rows, more of them than memory holds
//	dataflow    the stages as functions from sorted rows to sorted rows
//	store       rows in Pebble
//	workspace   the directory: manifest, lock, inputs, states of stages, judgements
//	results     what the stages wrote, for every reader
//	scores      similar texts, and the scores of two texts, outside of a run
//	stages      extract, sign, cluster, verify, closing: dataflow over the tables of a workspace
//	reading     documents of inputs without a workspace; neardup text
//	textjoin    neardup join
//	exports     neardup export
//	explaining  neardup explain
//	browsing    neardup serve, neardup audit
//	statistics  neardup report
//	trials      neardup sweep, neardup compare
package pipeline
