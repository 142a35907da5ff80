package checking

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"neardup/pipeline/disk"
	"neardup/pipeline/exports"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// exports compares the exports with those that the database gives now.
func (c *checker) exports() (err error) {
	there := false
	for _, name := range exports.Files {
		_, err := os.Stat(c.w.Path("exports", name))
		there = there || err == nil
	}
	if !there {
		c.note("exports, because there are none")
		return nil
	}
	if err := c.w.Current(workspace.StageVerify); err != nil {
		c.note("exports, because the run is not up to date")
		return nil
	}
	dir, remove, err := disk.MkdirTemp(cmp.Or(c.w.Options.Temp, os.TempDir()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	sound, old := len(c.Problems) == 0, c.w.ExportsAreOld()
	if _, err := exports.WriteAllTo(c.ctx, c.w, dir, func(report.Cluster) {}); err != nil {
		return err
	}
	for _, name := range exports.Files {
		same, err := equalFiles(filepath.Join(dir, name), c.w.Path("exports", name))
		switch {
		case old && (errors.Is(err, fs.ErrNotExist) || err == nil && !same):
			c.note("exports/" + name + ", because it is older than the tables; neardup run writes it again")
			continue
		case errors.Is(err, fs.ErrNotExist):
			c.problem("exports/%s is missing; neardup run writes it again", name)
		case err != nil:
			return err
		case !same:
			c.problem("exports/%s differs from what the database gives; neardup run writes it again", name)
		}
		c.Exports++
	}
	c.OnlyExports = sound && len(c.Problems) > 0
	return exports.CheckNoted(c.w)
}

// equalFiles compares two files.
func equalFiles(a, b string) (bool, error) {
	f, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	g, err := os.Open(b)
	if err != nil {
		return false, err
	}
	defer func() { _ = g.Close() }()
	x, y := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(f, x)
		m, err2 := io.ReadFull(g, y)
		if !bytes.Equal(x[:n], y[:m]) {
			return false, nil
		}
		if err != nil || err2 != nil {
			if ended := func(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }; ended(err) && ended(err2) {
				return true, nil
			}
			return false, errors.Join(err, err2)
		}
	}
}
