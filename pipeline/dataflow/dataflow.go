// Package dataflow has the stages as functions from sorted rows to sorted rows.
// They know neither the database nor the workspace: package stages runs them over
// its tables, and they run as well over plain sorted files.
//
//	Sign          texts                                → postings
//	Edges         postings by signature, then key      → edges
//	Sets, Tally   edges by representative, then member → perhaps-similar sets, or candidate pairs
//	VerifySets    sets, VerifyPairs candidate pairs    → links, near pairs with their scores
//	Part          components of links                  → parts, representatives with their members
//	Close         links, parts                         → clusters
//
// A function emits in the order of its input, whatever the number of workers, so
// that a caller can commit what it was given together with the place to go on
// from.
package dataflow
