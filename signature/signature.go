// Package signature is the second stage: it turns a document's sentences into
// signatures, the keys under which documents meet. Each scheme has a package
// of its own below this one.
package signature

// Signature is one key of a document; documents that share one are perhaps
// similar. 128 bits, as in the TLCS paper, section 3.1.
type Signature [16]byte
