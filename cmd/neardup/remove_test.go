package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"neardup/pipeline/stages"
	"neardup/pipeline/withdrawals"
	"neardup/pipeline/withdrawn"
	"neardup/pipeline/workspace"
)

// A removal that was interrupted while the stages went on is continued by the same command.
func TestRemoveAgain(t *testing.T) {
	ws := exampleWorkspace(t)
	const pattern = "http://recipes.example/pages/t*"
	m, err := workspace.ReadManifest(ws)
	if err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(ws, stages.All, *m.Config, false, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n, err := withdrawals.Withdraw(t.Context(), w, withdrawn.Withdrawal{URI: pattern})
	if err != nil || n == 0 {
		t.Fatal(n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Run(ctx, workspace.StageExtract, workspace.StageVerify, nil); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if s, begun, err := w.State(workspace.StageExtract); !begun || s.Done || err != nil {
		t.Fatal("the extraction is not interrupted", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	remove := func(pattern string) (int, string) {
		var out, errs bytes.Buffer
		code := run([]string{"remove", "--progress", "none", "--workspace", ws, pattern}, bytes.NewReader(nil), &out, &errs)
		return code, out.String() + errs.String()
	}
	if code, said := remove("http://recipes.example/pages/s*"); code != exitUsage || !strings.Contains(said, "was interrupted") {
		t.Errorf("another removal: exit code %d: %s", code, said)
	}
	if code, said := remove(pattern); code != exitOK || !strings.Contains(said, "Captures that are withdrawn: "+string(rune('0'+n))+".") {
		t.Errorf("the same again, of %d captures: exit code %d: %s", n, code, said)
	}
	if code, said := remove("http://recipes.example/pages/s*"); code != exitOK {
		t.Errorf("another removal then: exit code %d: %s", code, said)
	}
}
