package workspace

// Progress receives reports on a run. Add may be called from any goroutine. The
// other methods are called from one goroutine at a time.
type Progress interface {
	// Skip reports that a stage is up to date.
	Skip(stage string)
	// Start reports that a stage begins, with the reason why it has to be done.
	Start(stage, reason, why string)
	// Disk reports how much disk space the stage will take, before Start.
	Disk(stage string, e Estimate)
	// Total sets how many units the stage will do from now on. The unit "bytes" is
	// shown scaled.
	Total(n int64, unit string)
	// Add reports n more finished units.
	Add(n int64)
	// Warn reports skipped input, or anything else worth a line.
	Warn(message string, args ...any)
	// Stop reports the end of the stage.
	Stop(err error)
}

// Silent is a Progress that ignores all reports.
type Silent struct{}

func (Silent) Skip(string) {}

func (Silent) Start(string, string, string) {}

func (Silent) Disk(string, Estimate) {}

func (Silent) Total(int64, string) {}

func (Silent) Add(int64) {}

func (Silent) Warn(string, ...any) {}

func (Silent) Stop(error) {}
