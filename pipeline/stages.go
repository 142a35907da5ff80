package pipeline

import (
	"context"

	"neardup/configs"
)

// The stages in their order.
//
//	version 1: first
//	extract 2: revisits, kinds of pages, overlays
//	extract 3: addresses of occurrences; 4: status and record_bytes of documents
//	sign 2: pages: topic; 3: texts without a signature
//	verify 2: subjects; when rounds are hopeless; 3: names of one wide character
var AllStages = []stage{
	{name: StageExtract, version: 4, options: extractOptions, run: (*Workspace).extract, extends: always,
		tables: []byte{tableDocument, tableText, tableOccurrence, tableRevisit, tableWanted}},
	{name: StageSign, version: 3, options: signOptions, run: (*Workspace).sign, extends: withoutTemplates,
		tables: []byte{tableSighting, tableTemplate, tableSigned, tablePosting}},
	{name: StageCluster, version: 1, options: clusterOptions, run: (*Workspace).cluster,
		tables: []byte{tableEdge, tablePermuted, tableSet}},
	{name: StageVerify, version: 4, options: verifyOptions, run: (*Workspace).verify,
		tables: append([]byte{tableVerdict}, tablesOfClosing...), follows: closingAgain, prepare: indexJudged},
}

func always(configs.Config) bool { return true }

// withoutTemplates tells whether texts are signed as they are: what more crawls
// teach of templates changes the signatures of texts that were there before.
func withoutTemplates(c configs.Config) bool { return c.Text.Templates == 0 }

// The options of each stage are whole sections of the config, so that none can
// be forgotten, but for those of parts that the method does not have.
func extractOptions(c configs.Config) any { return c.Extract }

func signOptions(c configs.Config) any { return c.UsedBySign() }

func clusterOptions(c configs.Config) any {
	used := c.UsedByCluster()
	used["quality_digest"] = qualityDigest(c.Cluster.Quality)
	return used
}

func verifyOptions(c configs.Config) any { return c.UsedByVerify() }

// indexJudged makes the index of record ids if there are judged pairs to follow.
func indexJudged(ctx context.Context, w *Workspace, judged []enforcedPair) error {
	if len(judged) == 0 {
		return nil
	}
	return w.indexNames(ctx)
}

// StageNames lists the stages in their order.
func StageNames() []string {
	var names []string
	for _, st := range AllStages {
		names = append(names, st.name)
	}
	return names
}
