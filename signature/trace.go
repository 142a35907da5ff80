package signature

// Tracer is a Scheme whose signatures are made from sentences, and that can tell
// which.
type Tracer interface {
	Scheme
	// Trace returns how the signatures of a text are made.
	Trace(text string) Trace
}

// Trace tells how the signatures of a text are made. Sentences are given by their
// indexes in package text's list of the text's sentences.
type Trace struct {
	Counted []int      // sentences that count, each distinct one once
	Prints  [][16]byte // their fingerprints, which are equal where the scheme takes two sentences for the same
	Origins []Origin   // a signature that was made twice is listed twice
}

// Origin tells how a signature was made.
type Origin struct {
	Signature Signature
	Whole     bool  // made of all sentences; Rotation and Class are not set
	Few       bool  // made of all sentences that count of a short text, or all but one or two; Rotation and Class are not set
	Rotation  int   // number of bytes that fingerprints were rotated to the left
	Class     int   // residue of the chosen fingerprints
	Sentences []int // the chosen sentences, in the scheme's order
}
