package workspace

// Progress is told how a run goes. Its methods are called from one goroutine
// at a time, except Add, which any may call.
type Progress interface {
	// Skip says that a stage is up to date.
	Skip(stage string)
	// Start says that a stage begins, and why it has to be done.
	Start(stage, reason, why string)
	// Total says how many units the stage will do from now on, and of what
	// they are ("bytes" are shown as such).
	Total(n int64, unit string)
	// Add says that n more units are done.
	Add(n int64)
	// Warn tells of input that was skipped, or another thing worth a line.
	Warn(message string, args ...any)
	// Stop ends the stage.
	Stop(err error)
}

type Silent struct{}

func (Silent) Skip(string) {}

func (Silent) Start(string, string, string) {}

func (Silent) Total(int64, string) {}

func (Silent) Add(int64) {}

func (Silent) Warn(string, ...any) {}

func (Silent) Stop(error) {}
