package workspace

import (
	"fmt"

	"neardup/pipeline/disk"
	"neardup/pipeline/store"
	"neardup/report/look"
)

// Need is an estimate of the disk space that a stage takes beyond what the
// workspace has, in bytes.
type Need struct {
	Workspace int64 // rows in the database
	Temporary int64 // sorted runs and spilled queues, until the stage is done
}

// NoLimit as Options.LeaveFree means that stages begin whatever the disk holds.
const NoLimit = -1

// Estimate is an estimate and what the disks have free, in bytes. Both disks may be
// the same one.
type Estimate struct {
	Need
	Free          int64
	FreeTemporary int64
}

// FreeSpace returns the bytes that this process may still write to the disk that
// holds dir.
func FreeSpace(dir string) (int64, error) { return store.FreeSpace(dir) }

// estimate compares what the stage needs with the free space. The error wraps
// disk.ErrFull.
func (w *Workspace) estimate(st Stage, all bool) (e Estimate, err error) {
	if st.Need == nil {
		return e, nil
	}
	if e.Need, err = st.Need(w, all); err != nil {
		return e, err
	}
	free := store.FreeSpace
	if w.Options.Free != nil {
		free = w.Options.Free
	}
	if e.Free, err = free(w.Dir); err != nil {
		return e, nil // the system does not say; a full disk ends the stage in its time
	}
	e.FreeTemporary = e.Free
	if w.elsewhere != "" {
		if e.FreeTemporary, err = free(w.elsewhere); err != nil {
			return e, nil
		}
	}
	w.Options.Progress.Disk(st.Name, e)
	if w.Options.LeaveFree < 0 {
		return e, nil
	}
	inWorkspace := e.Workspace
	if w.elsewhere == "" {
		inWorkspace += e.Temporary
	} else if e.Temporary > 0 && e.Temporary > e.FreeTemporary-w.Options.LeaveFree {
		return e, w.tooSmall(st, w.Options.Temp, e.Temporary, e.FreeTemporary)
	}
	if inWorkspace > e.Free-w.Options.LeaveFree {
		return e, w.tooSmall(st, w.Dir, inWorkspace, e.Free)
	}
	return e, nil
}

func (w *Workspace) tooSmall(st Stage, dir string, need, free int64) error {
	leave := ""
	if w.Options.LeaveFree > 0 {
		leave = fmt.Sprintf(", of which %s are to stay free", look.Bytes(w.Options.LeaveFree))
	}
	return fmt.Errorf("%w for stage %s: it needs about %s in %s, and %s are free%s; free some space, or begin it all the same with --leave-free off",
		disk.ErrFull, st.Name, look.Bytes(need), dir, look.Bytes(free), leave)
}
