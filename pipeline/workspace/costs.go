package workspace

import (
	"errors"
	"io/fs"
	"os"

	"neardup/pipeline/disk"
)

// costsName is the file of the last run's costs. It is no export, because times
// differ from run to run.
const costsName = "run.json"

// writeCosts writes run.json. failure is the error that ended the run. A run that
// did nothing, and did not fail, leaves the file of the run before.
func (w *Workspace) writeCosts(failure error) error {
	if w.Options.Costs == nil || w.trial != nil {
		return nil
	}
	r := w.Options.Costs.Report(failure)
	if len(r.Stages) == 0 && failure == nil || w.DB.There() != nil { // the directory of another is left alone
		return nil
	}
	r.Program, r.Workers = Version(), w.Options.Workers
	b, err := marshalIndent(r)
	if err != nil {
		return err
	}
	return disk.WriteFile(w.Path(costsName), func(f *os.File) error {
		_, err := f.Write(b)
		return err
	})
}

// DropCosts removes run.json, which has URIs.
func (w *Workspace) DropCosts() error {
	err := os.Remove(w.Path(costsName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
