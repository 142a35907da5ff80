package configs

import "neardup/cluster/search"

// Values of the settings of a join, for the commands.
var (
	JoinTokens     = search.JoinTokens
	JoinMeasures   = search.JoinMeasures
	JoinWeights    = search.JoinWeights
	JoinAlgorithms = search.JoinAlgorithms
)

// Values with special treatment in the commands.
const (
	JoinJaccard    = search.JoinJaccard
	JoinCosine     = search.JoinCosine
	JoinOverlap    = search.JoinOverlap
	JoinHamming    = search.JoinHamming
	JoinEdit       = search.JoinEdit
	JoinCharacters = search.JoinCharacters
	JoinIDF        = search.JoinIDF
	JoinUnweighted = search.JoinUnweighted
	JoinGiven      = search.JoinGiven
	JoinPPJoinPlus = search.JoinPPJoinPlus
	JoinLSH        = search.JoinLSH
)
