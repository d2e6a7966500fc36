package kernels_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// This file reads the assembly as text and holds it to the rules of the package
// comments of kernels/amd64 and kernels/arm64, whatever the machine it runs on.

// instruction is an instruction of a function, with macros expanded.
type instruction struct {
	line     string // file:line of the instruction, or of the use of its macro
	mnemonic string // "" for a label
	operands string
}

type function struct {
	name  string
	flags string
	frame int
	body  []instruction
}

var (
	macroUse  = regexp.MustCompile(`^([A-Z][A-Z0-9_]*)(?:\((.*)\))?$`)
	textLine  = regexp.MustCompile(`^TEXT ·(\w+)\(SB\), (\S+), \$(-?\d+)-\d+$`)
	defineRow = regexp.MustCompile(`^#define (\w+)(?:\(([^)]*)\))?\s*(.*)$`)
)

// parseAssembly returns the functions of one file.
func parseAssembly(t *testing.T, path string) []function {
	t.Helper()
	type macro struct {
		params []string
		lines  []string
	}
	macros := map[string]macro{}
	var functions []function
	var emit func(where, line string)
	emit = func(where, line string) {
		if line, _, _ = strings.Cut(line, "//"); strings.TrimSpace(line) == "" {
			return
		}
		line = strings.Join(strings.Fields(line), " ")
		if m := textLine.FindStringSubmatch(line); m != nil {
			frame, _ := strconv.Atoi(m[3])
			functions = append(functions, function{name: m[1], flags: m[2], frame: frame})
			return
		}
		if use := macroUse.FindStringSubmatch(line); use != nil {
			if m, ok := macros[use[1]]; ok {
				args := strings.Split(use[2], ",")
				for _, row := range m.lines {
					for i, p := range m.params {
						row = regexp.MustCompile(`\b`+p+`\b`).ReplaceAllString(row, strings.TrimSpace(args[i]))
					}
					emit(where, row)
				}
				return
			}
		}
		if len(functions) == 0 || strings.HasPrefix(line, "DATA ") || strings.HasPrefix(line, "GLOBL ") {
			return
		}
		f := &functions[len(functions)-1]
		if strings.HasSuffix(line, ":") {
			f.body = append(f.body, instruction{line: where})
			return
		}
		mnemonic, operands, _ := strings.Cut(line, " ")
		f.body = append(f.body, instruction{line: where, mnemonic: mnemonic, operands: operands})
	}
	var read func(path string)
	read = func(path string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		for i := 0; i < len(lines); i++ {
			line := strings.TrimSpace(lines[i])
			if name, ok := strings.CutPrefix(line, "#include "); ok {
				if name = strings.Trim(name, `"`); name != "textflag.h" && name != "go_asm.h" {
					read(filepath.Join(filepath.Dir(path), name))
				}
				continue
			}
			if m := defineRow.FindStringSubmatch(line); m != nil {
				d := macro{}
				for p := range strings.SplitSeq(m[2], ",") {
					if p = strings.TrimSpace(p); p != "" {
						d.params = append(d.params, p)
					}
				}
				for row := m[3]; ; row = strings.TrimSpace(lines[i]) {
					code, _, _ := strings.Cut(row, "//")
					code = strings.TrimSpace(code)
					more := strings.HasSuffix(code, `\`)
					d.lines = append(d.lines, strings.TrimSpace(strings.TrimSuffix(code, `\`)))
					if !more {
						break
					}
					i++
				}
				macros[m[1]] = d
				continue
			}
			emit(fmt.Sprintf("%s:%d", filepath.Base(path), i+1), line)
		}
	}
	read(path)
	return functions
}

// allowed lists the instructions that each set may use.
var allowed = map[string]string{
	"avx2": `
		MOVQ MOVL MOVW MOVWQZX LEAQ ADDQ SUBQ SHLQ SHRQ ANDQ XORQ DECQ INCQ CMPQ TESTQ CMOVQLT
		JMP JZ JNZ JLT JGE JLE JA JNE JPC JHI JGT RET
		VXORPD VANDPD VORPD VADDPD VMULPD VMAXPD VCMPPD VMOVUPD VMASKMOVPD VMOVMSKPD VMOVAPD
		VADDSD VSUBSD VMULSD VDIVSD VMAXSD VUCOMISD VMOVSD VMOVHPD VMOVDDUP VUNPCKHPD VEXTRACTF128 VPERM2F128 VHADDPD
		VBROADCASTSD VPBROADCASTQ VMOVQ VMOVDQU VPCMPGTQ VPSUBQ VPCMPEQQ VPSRLQ VPSLLQ
		VFMADD231PD VFMADD231SD VFMADD213SD VFMADD213PD VFNMADD231PD VMINPD VSUBPD VDIVPD VBLENDVPD VPADDQ
		VPBROADCASTB VPAND VCVTPS2PD VSHUFPS VMASKMOVPS IMULQ VCMPSD VANDNPD JE VMINSD VFNMADD231SD VFMSUB213SD PREFETCHT0 VINSERTF128 VUNPCKLPD VZEROUPPER
		VPMOVMSKB VPSUBB VPADDB VPCMPEQB VPOR VPANDN VPXOR VPSLLDQ VPSHUFB VPMINUB VPMADDUBSW VPMADDWD VPACKUSDW VPSHUFD VPUNPCKLDQ VPUNPCKLQDQ VPUNPCKHQDQ
		VCVTDQ2PD VBROADCASTI128 VINSERTI128 VEXTRACTI128 MOVLQSX XORL ADDL ANDL NOTL SHRL LEAL NEGQ BSRL TZCNTQ POPCNTQ ORQ CMPL TESTL CMOVQHI JLS
		VPSUBD VPMINUD VPCMPEQD VMOVMSKPS VPSLLD VPMOVZXDQ VPSLLVQ VPINSRQ VPTEST VPSADBW VPERMPS`,
	"avx512": `
		MOVQ MOVL ADDQ SUBQ SHLQ SHRQ SHLL SHRL DECL ANDQ DECQ CMPQ TESTQ CMOVQLT JMP JZ JNZ JLT JGE JHI JGT RET
		KMOVD KUNPCKBW KUNPCKWD VPBROADCASTQ VPXORQ VPANDQ VPANDQ.Z VPTERNLOGQ VPSRLQ VPMAXUQ VEXTRACTF64X4 VEXTRACTF128 VUNPCKHPD VXORPD
		VADDPD VADDSD VMULPD VMULPD.Z VMOVUPD VMOVUPD.Z VMOVSD VFMADD231PD VBROADCASTSD
		KMOVB JLE JE NOTQ VEXTRACTF64X2 XORQ LEAQ VDIVSD VMOVQ INCQ IMULQ JNE JPC VUCOMISD VSUBSD VMULSD VFMADD213SD VFMADD231SD VCMPSD VANDPD VANDNPD VORPD VPCMPEQQ VMINPD VMAXPD VMOVAPD VSUBPD VDIVPD VFNMADD231PD VFMADD213PD.BCST VFMADD231PD.BCST VFNMADD231PD.BCST
		VCVTPS2PD VCVTPS2PD.Z VMULPD.BCST VADDPD.BCST VPADDQ VPOPCNTQ VPADDQ.BCST VPSUBQ VPSLLQ VSUBPD.BCST VFIXUPIMMPD.BCST VCMPPD VCMPPD.BCST VBROADCASTSD.Z VPORQ.BCST VSCALEFPD.Z VMOVDQU32 VMOVDQU32.Z KXNORW VPTERNLOGD VPGATHERDD VPMOVD2M VPMOVQ2M KNOTW KSHIFTRW KMOVW MOVBLZX POPCNTL VPCOMPRESSD VPCOMPRESSD.Z VCOMPRESSPD VCOMPRESSPD.Z VPERMI2PD VFMADD213PD VZEROUPPER`,
	"base": `MOVQ DECQ JGT PAUSE MOVD SUBS BGT ISB RET`,
	"neon": `
		MOVD MOVD.P MOVWU MOVWU.P ADD ADDS SUB SUBS AND LSR CMP CSEL B BNE BEQ BLT BGE BGT BHI CBZ TBZ RET
		LDPW LDPW.P FLDPD FLDPD.P FSTPD.P FMOVD FMOVD.P FADDD FSUBD FMULD FDIVD FNEGD FABSD FMAXD FCMPD FMADDD
		FMOVS FCVTSD MOVW.P LSL MUL VFMLS VLD1R.P VLD1 VLD1.P VST1 VST1.P VFMLA VAND VEOR VMOV VDUP
		VCNT VADD VUADDLV FMSUBD FNMSUBD FCSELD CSET CSINC EOR ORR MOVW MOVBU VCMTST`,
}

func assemblyFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*/*.s")
	if err != nil || len(files) == 0 {
		t.Fatalf("no assembly found: %v", err)
	}
	return files
}

func setOf(path string) string {
	parts := strings.Split(strings.TrimSuffix(filepath.Base(path), ".s"), "_")
	return parts[len(parts)-2]
}

func TestAssemblyKeepsToItsInstructionSet(t *testing.T) {
	for _, path := range assemblyFiles(t) {
		set := setOf(path)
		list, ok := allowed[set]
		if !ok {
			t.Errorf("%s: no list of instructions for the set %q", path, set)
			continue
		}
		may := strings.Fields(list)
		registers := regexp.MustCompile(`\b(Z\d+|K[0-7]|[XY](1[6-9]|2\d|3[01]))\b`)
		for _, f := range parseAssembly(t, path) {
			for _, in := range f.body {
				if in.mnemonic != "" && !slices.Contains(may, in.mnemonic) {
					t.Errorf("%s: %s is not an instruction of the set %s", in.line, in.mnemonic, set)
				}
				if set == "avx2" && registers.MatchString(in.operands) {
					t.Errorf("%s: AVX-512 registers: %s", in.line, in.operands)
				}
			}
		}
	}
}

func TestAssemblyCanBePreemptedBetweenCalls(t *testing.T) {
	for _, path := range assemblyFiles(t) {
		functions := parseAssembly(t, path)
		if len(functions) == 0 {
			t.Errorf("%s: no function recognised", path)
		}
		for _, f := range functions {
			if f.flags != "0" || f.frame < 128 {
				t.Errorf("%s: %s has flags %s and a frame of %d bytes; without NOSPLIT and with 128 bytes there is a stack check",
					path, f.name, f.flags, f.frame)
			}
		}
	}
}

func TestAssemblyClearsUpperHalves(t *testing.T) {
	wide := regexp.MustCompile(`\b[YZ]\d+\b`)
	for _, path := range assemblyFiles(t) {
		for _, f := range parseAssembly(t, path) {
			usesWide := slices.ContainsFunc(f.body, func(in instruction) bool { return wide.MatchString(in.operands) })
			returns := 0
			for i, in := range f.body {
				if in.mnemonic != "RET" {
					continue
				}
				returns++
				if usesWide && f.body[i-1].mnemonic != "VZEROUPPER" {
					t.Errorf("%s: %s returns without VZEROUPPER", in.line, f.name)
				}
			}
			if returns == 0 || f.body[len(f.body)-1].mnemonic != "RET" {
				t.Errorf("%s: %s does not end in RET", path, f.name)
			}
		}
	}
}

func TestAssemblyTouchesNoModeAndNoAlignedMemory(t *testing.T) {
	mode := regexp.MustCompile(`^V?(LD|ST)MXCSR|^FXRSTOR|^XRSTOR|^XSETBV|^MSR$|^MRS$|^FLD?CW|^FN?INIT|^BYTE$|^WORD$|^LONG$|^QUAD$`)
	aligned := regexp.MustCompile(`^V?MOV(AP[SD]|DQA|NT)`)
	legacy := regexp.MustCompile(`\b[XYZ]\d+\b`)
	stack := regexp.MustCompile(`, (SP|BP|RSP|R14|R28)$|^(SP|BP|RSP)$`)
	for _, path := range assemblyFiles(t) {
		for _, f := range parseAssembly(t, path) {
			for _, in := range f.body {
				switch {
				case mode.MatchString(in.mnemonic):
					t.Errorf("%s: %s writes the floating-point mode, or hides an instruction", in.line, in.mnemonic)
				case aligned.MatchString(in.mnemonic) && strings.Contains(in.operands, "("):
					t.Errorf("%s: %s needs alignment: %s", in.line, in.mnemonic, in.operands)
				case strings.HasPrefix(path, "amd64") && legacy.MatchString(in.operands) &&
					!strings.HasPrefix(in.mnemonic, "V") && !strings.HasPrefix(in.mnemonic, "K"):
					t.Errorf("%s: %s is a legacy SSE instruction among VEX ones", in.line, in.mnemonic)
				case stack.MatchString(in.operands) && in.mnemonic != "CMPQ":
					t.Errorf("%s: %s %s writes a register that is not ours", in.line, in.mnemonic, in.operands)
				}
			}
		}
	}
}

// TestEveryFunctionHasItsTwin checks that every function in assembly has a declaration in
// Go, and every declaration a function.
func TestEveryFunctionHasItsTwin(t *testing.T) {
	declared := regexp.MustCompile(`(?m)^//go:noescape\nfunc (\w+)\(`)
	for _, folder := range []string{"amd64", "arm64"} {
		var inGo, inAssembly []string
		sources, _ := filepath.Glob(folder + "/*.go")
		for _, path := range sources {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
				inGo = append(inGo, m[1])
			}
		}
		for _, path := range assemblyFiles(t) {
			if filepath.Dir(path) != folder {
				continue
			}
			for _, f := range parseAssembly(t, path) {
				inAssembly = append(inAssembly, f.name)
			}
		}
		slices.Sort(inGo)
		slices.Sort(inAssembly)
		if !slices.Equal(inGo, inAssembly) {
			t.Errorf("%s: declared %v, defined %v", folder, inGo, inAssembly)
		}
	}
}

// TestTheGateSeesFaults checks that assembly which breaks the rules is parsed as it is
// written, macros included.
func TestTheGateSeesFaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bad_avx2_amd64.s")
	source := "#define TWO(a, b) \\\n\tVMOVAPD a(SI), b \\ // comment\n\tVADDPD b, b, b\n" +
		"TEXT ·Bad(SB), NOSPLIT, $0-24\n\tTWO(8, Y3)\nloop:\n\tJMP loop\n\tRET\n"
	if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	got := parseAssembly(t, path)
	if len(got) != 1 || got[0].flags != "NOSPLIT" || got[0].frame != 0 || len(got[0].body) != 5 {
		t.Fatalf("parsed as %+v", got)
	}
	if in := got[0].body[0]; in.mnemonic != "VMOVAPD" || in.operands != "8(SI), Y3" {
		t.Errorf("macro expanded to %+v", in)
	}
}
