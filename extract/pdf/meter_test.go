package pdf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
)

// stepsExport is the name of the global that counts down.
const stepsExport = "neardup_steps"

// meter returns a WebAssembly module that counts the turns of its loops down in
// an exported 64-bit global, and traps once it is below zero. Only loops can
// take long: without a turn the code ends after at most its own length, and
// calls are bounded by the stack.
//
// It knows the instructions of WebAssembly 1.0 with sign extension, saturating
// conversion and bulk memory, which is what PDFium uses. (WebAssembly
// specification 2.0, section 5.)
func meter(module []byte) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("malformed module: %v", r)
		}
	}()
	r := &wasm{b: module}
	if !bytes.Equal(r.take(8), []byte("\x00asm\x01\x00\x00\x00")) {
		return nil, fmt.Errorf("no WebAssembly module of version 1")
	}
	out = slices.Clone(module[:8])
	var steps uint64 // the index of the new global
	for r.at < len(r.b) {
		id := r.take(1)[0]
		body := r.take(int(r.u32()))
		switch s := (&wasm{b: body}); id {
		case 6: // globals; none is imported
			steps = s.u32()
			body = slices.Concat(leb(steps+1), body[s.at:], []byte{0x7e, 0x01, 0x42, 0x00, 0x0b}) // i64, mutable, i64.const 0, end
		case 7: // exports
			n := s.u32()
			body = slices.Concat(leb(n+1), body[s.at:], leb(uint64(len(stepsExport))), []byte(stepsExport), []byte{0x03}, leb(steps))
		case 10: // code
			body = meterCode(s, steps)
		}
		out = slices.Concat(out, []byte{id}, leb(uint64(len(body))), body)
	}
	return out, nil
}

// meterCode returns the code section with a countdown in each loop.
func meterCode(s *wasm, steps uint64) []byte {
	g := leb(steps)
	countdown := slices.Concat(
		[]byte{0x23}, g, []byte{0x42, 0x01, 0x7d, 0x24}, g, // steps = steps - 1
		[]byte{0x23}, g, []byte{0x42, 0x00, 0x53, 0x04, 0x40, 0x00, 0x0b}) // if steps < 0 { unreachable }
	n := s.u32()
	out := leb(n)
	for range n {
		f := &wasm{b: s.take(int(s.u32()))}
		for range f.u32() { // locals
			f.u32()
			f.take(1)
		}
		var code []byte
		from := 0
		for f.at < len(f.b) {
			if f.instruction() == 0x03 { // loop
				code = append(append(code, f.b[from:f.at]...), countdown...)
				from = f.at
			}
		}
		code = append(code, f.b[from:]...)
		out = append(append(out, leb(uint64(len(code)))...), code...)
	}
	return out
}

// wasm reads a module, or a part of one. It panics at the end.
type wasm struct {
	b  []byte
	at int
}

func (w *wasm) take(n int) []byte {
	w.at += n
	return w.b[w.at-n : w.at]
}

func (w *wasm) u32() uint64 {
	v, n := binary.Uvarint(w.b[w.at:])
	w.take(max(1, n))
	return v
}

// skipLEB passes over a number of any width and sign.
func (w *wasm) skipLEB() {
	for w.take(1)[0]&0x80 != 0 {
	}
}

// instruction passes over an instruction and returns its first byte.
func (w *wasm) instruction() byte {
	op := w.take(1)[0]
	switch {
	case op == 0x02 || op == 0x03 || op == 0x04: // block, loop, if
		w.skipLEB()
	case op == 0x0c || op == 0x0d || op == 0x10, op >= 0x20 && op <= 0x24: // br, br_if, call; locals and globals
		w.skipLEB()
	case op == 0x0e: // br_table
		for range w.u32() + 1 {
			w.skipLEB()
		}
	case op == 0x11, op >= 0x28 && op <= 0x3e: // call_indirect; loads and stores
		w.skipLEB()
		w.skipLEB()
	case op == 0x3f || op == 0x40: // memory.size, memory.grow
		w.take(1)
	case op == 0x41 || op == 0x42: // i32.const, i64.const
		w.skipLEB()
	case op == 0x43: // f32.const
		w.take(4)
	case op == 0x44: // f64.const
		w.take(8)
	case op == 0xfc:
		switch sub := w.u32(); {
		case sub < 8: // saturating conversion
		case sub == 8 || sub == 10: // memory.init, memory.copy
			w.skipLEB()
			w.skipLEB()
		case sub == 9 || sub == 11: // data.drop, memory.fill
			w.skipLEB()
		default:
			panic(fmt.Sprintf("instruction fc %x", sub))
		}
	case op == 0x00 || op == 0x01 || op == 0x05 || op == 0x0b || op == 0x0f || op == 0x1a || op == 0x1b, op >= 0x45 && op <= 0xc4:
		// unreachable, nop, else, end, return, drop, select; tests, arithmetic, conversions
	default:
		panic(fmt.Sprintf("instruction %x", op))
	}
	return op
}

func leb(v uint64) []byte { return binary.AppendUvarint(nil, v) }
