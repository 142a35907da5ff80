package pdf

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/emscripten"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// packed is PDFium, compiled to WebAssembly by the project go-pdfium, with a
// countdown added to its loops. module_test.go makes it.
//
//go:embed pdfium.wasm.br
var packed []byte

func unpack() ([]byte, error) {
	return io.ReadAll(brotli.NewReader(bytes.NewReader(packed)))
}

// Engine runs PDFium. It compiles PDFium to machine code at the first PDF, which
// takes seconds of processor time unless the code is cached in a directory. It is
// safe for concurrent use and keeps nothing from one document to the next.
type Engine struct {
	// CacheDir is the directory for the machine code; it is created if needed.
	// Empty means no cache. Several processes may share it. If it cannot be read or
	// written, this costs time and is no error.
	CacheDir string
	// Discard, if not nil, is called when a file in CacheDir is damaged.
	Discard func()
	// Instances limits the documents that are read at a time. Each takes up to MaxSpare
	// bytes, and one of them up to Limits.MaxMemory. 0 means no limit.
	Instances int

	slots   chan struct{} // of the instances, if they are limited
	once    sync.Once
	err     error
	runtime wazero.Runtime
	module  wazero.CompiledModule
	spare   sync.Pool  // *[]byte: memory of former instances
	large   sync.Mutex // held by the one instance that has more memory than MaxSpare, or many lines
}

// start compiles PDFium.
func (e *Engine) start() error {
	e.once.Do(func() {
		if e.Instances > 0 {
			e.slots = make(chan struct{}, e.Instances)
		}
		code, err := unpack()
		if err == nil {
			err = e.compile(code)
		}
		if err != nil {
			e.err = fmt.Errorf("starting PDFium: %w", err)
		}
	})
	return e.err
}

// compile compiles PDFium, or takes the machine code from the cache.
func (e *Engine) compile(code []byte) error {
	ctx := context.Background()
	config := wazero.NewRuntimeConfig().WithDebugInfoEnabled(false)
	cached := config
	if e.CacheDir != "" {
		if cache, err := wazero.NewCompilationCacheWithDir(e.CacheDir); err == nil {
			cached = config.WithCompilationCache(cache)
		}
	}
	r := wazero.NewRuntimeWithConfig(ctx, cached)
	compiling := experimental.WithCompilationWorkers(ctx, 2)
	module, err := r.CompileModule(compiling, code)
	if err != nil { // the cache cannot be written; the compiled code is usable
		module, err = r.CompileModule(compiling, code)
	}
	if err != nil { // or it is damaged
		if e.Discard != nil {
			e.Discard()
		}
		_ = r.Close(ctx)
		r = wazero.NewRuntimeWithConfig(ctx, config)
		module, err = r.CompileModule(compiling, code)
	}
	if err == nil {
		_, err = wasi_snapshot_preview1.Instantiate(ctx, r) // without files, and with a clock that stands still
	}
	if err == nil {
		err = instantiateEnv(ctx, r, module)
	}
	if err != nil {
		_ = r.Close(ctx)
		return err
	}
	e.runtime, e.module = r, module
	return nil
}

// instantiateEnv provides the functions of PDFium's compiler runtime. Those that
// would call back into the embedding program are never called when text is read.
func instantiateEnv(ctx context.Context, r wazero.Runtime, module wazero.CompiledModule) error {
	env := r.NewHostModuleBuilder("env")
	known, err := emscripten.NewFunctionExporterForModule(module)
	if err != nil {
		return err
	}
	for _, f := range module.ImportedFunctions() {
		if in, name, _ := f.Import(); in == "env" {
			env.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(context.Context, api.Module, []uint64) {
				panic(errors.New(name + " is not there"))
			}), f.ParamTypes(), f.ResultTypes()).Export(name)
		}
	}
	known.ExportFunctions(env) // replaces the functions above
	_, err = env.Instantiate(ctx)
	return err
}

// memory is the memory of an instance, at most limit bytes.
type memory struct {
	e     *Engine
	limit uint64
	b     []byte
	used  int  // bytes that were in use
	large bool // it is the one instance that has more than MaxSpare, or many lines
	over  bool // more was requested
}

// Allocate implements experimental.MemoryAllocator. An instance has one memory.
func (m *memory) Allocate(capacity, _ uint64) experimental.LinearMemory {
	if spare, ok := m.e.spare.Get().(*[]byte); ok {
		m.b = *spare
	}
	m.resize(capacity)
	m.b = m.b[:0]
	return m
}

// Reallocate implements experimental.LinearMemory. All bytes of m.b up to its
// capacity that were not in use are zero.
func (m *memory) Reallocate(size uint64) []byte {
	if size > m.limit {
		m.over = true
		return nil
	}
	m.resize(size)
	return m.b
}

// resize waits for other instances if the memory becomes large. Then it has room for the
// limit at once, since it would take half as much again to copy it.
func (m *memory) resize(size uint64) {
	if size > uint64(cap(m.b)) {
		room := max(size, min(2*uint64(cap(m.b)), MaxSpare))
		if size > MaxSpare {
			m.enlarge()
			runtime.GC() // so that it takes the place of the large memory before it
			room = max(size, m.limit)
		}
		b := make([]byte, size, room)
		copy(b, m.b)
		m.b = b
	}
	m.b = m.b[:size]
	m.used = max(m.used, len(m.b))
}

// enlarge waits until no other instance is large.
func (m *memory) enlarge() {
	if !m.large {
		m.e.large.Lock()
		m.large = true
	}
}

// MaxSpare is the memory that an instance may take while others do, in bytes, and the
// largest that is kept for the next instance. Most documents need 18 MB.
const MaxSpare = 32 << 20

// Free implements experimental.LinearMemory.
func (m *memory) Free() {
	if cap(m.b) <= MaxSpare {
		b := m.b[:m.used]
		clear(b)
		m.e.spare.Put(&b)
	}
	m.b = nil
}

// end lets another instance become large. Nothing may refer to the memory any more.
func (m *memory) end() {
	if m.large {
		m.large = false
		m.e.large.Unlock()
	}
}
