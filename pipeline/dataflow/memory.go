package dataflow

import "sync"

// smallSet is how many bytes a set or component may take while others do. It is a
// variable for tests.
var smallSet = 16 << 20

// room is for sets and components that take more: one has it at a time.
type room struct{ mu sync.Mutex }

// memory counts what a set or component takes: texts of the present chunk, and an index.
// Goroutines can share it.
type memory struct {
	room  *room
	mu    sync.Mutex
	held  int
	large bool // it has the room
}

// take counts bytes that are taken. It waits for the room once they are many.
func (m *memory) take(bytes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held += bytes; m.held > smallSet && !m.large {
		m.room.mu.Lock()
		m.large = true
	}
}

// give counts bytes that are free again.
func (m *memory) give(bytes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held -= bytes
}

// end counts all bytes as free again, and gives the room back.
func (m *memory) end() {
	if m.held = 0; m.large {
		m.large = false
		m.room.mu.Unlock()
	}
}
