package main

import "testing"

// TestGoldenExplain keeps whole explanations, to read what changed.
func TestGoldenExplain(t *testing.T) {
	dir := t.TempDir()
	runIn(t, dir, committed)
	for name, pair := range map[string][2]string{
		"near":      {"http://garden.example/pages/herbs.html@2024-03", "http://garden.example/pages/herbs.html@2024-09"},
		"chain":     {"http://chess.example/pages/school.html@2024-03", "http://copies.example/chess.example/school"},
		"contained": {"http://news.example/pages/kite.html", "http://recipes.example/pages/dumpling.html@2024-03"},
		"parted":    {"http://manual.example/pages/backup.html@2024-09", "http://news.example/pages/festival.html"},
	} {
		args := []string{"explain", "--workspace", dir, "--progress", "none", pair[0], pair[1]}
		golden(t, "explain."+name+".txt", neardup(t, exitOK, args...))
		if name == "parted" {
			golden(t, "explain."+name+".json", neardup(t, exitOK, append(args, "--json")...))
		}
	}
}
