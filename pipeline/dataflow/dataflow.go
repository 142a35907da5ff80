// Package dataflow has the stages as functions from sorted rows to sorted rows.
// They know neither the database nor the workspace. Package stages runs them over
// the tables of a workspace; they run over plain sorted files as well. The
// functions of stage cluster are in package cluster/search, and the last ones of
// verify in package closing.
//
//	Extract          records                            → captures with their texts, revisits
//	Resolve          revisits, captures                 → revisits as pages
//	Sign             texts                              → postings
//	search.Map       postings by signature, then key    → rows of the search
//	search.Find      these rows, or texts               → perhaps-similar sets, or candidate pairs
//	VerifySets       sets                               → links: near pairs with their scores
//	VerifyPairs      candidate pairs                    → links
//	Tie              near pairs                         → links with the numbers of their components
//	Part             components of links                → parts: representatives with their members
//	closing.Close    links, parts                       → clusters
//	closing.Enforce  judged pairs, clusters             → clusters that follow them
//	closing.Apart    near pairs, clusters               → contained texts with their hosts
//
// A function emits results in the order of its input, whatever the number of
// workers. So a caller can commit results together with the place to resume from.
package dataflow
