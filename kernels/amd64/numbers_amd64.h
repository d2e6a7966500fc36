// The constants of explog.go and logistic.go in package kernels, as bits. A test
// checks that they agree.

#define LOG2E      numbers<>+0(SB)
#define SHIFT      numbers<>+8(SB)
#define LN2HI      numbers<>+16(SB)
#define LN2LO      numbers<>+24(SB)
#define HIGHEST    numbers<>+32(SB)
#define LEAST      numbers<>+40(SB)
#define HALF       numbers<>+48(SB)
#define ONE        numbers<>+56(SB)
#define BIAS       numbers<>+64(SB)
#define SIGN       numbers<>+72(SB)
#define EXP0       numbers<>+80(SB)
#define EXP1       numbers<>+88(SB)
#define EXP2       numbers<>+96(SB)
#define EXP3       numbers<>+104(SB)
#define EXP4       numbers<>+112(SB)
#define EXP5       numbers<>+120(SB)
#define EXP6       numbers<>+128(SB)
#define EXP7       numbers<>+136(SB)
#define EXP8       numbers<>+144(SB)
#define EXP9       numbers<>+152(SB)
#define MINUSHALF  numbers<>+160(SB)
#define FIFTEEN    numbers<>+168(SB)
#define DECAYSHIFT numbers<>+176(SB)
#define DECAY1     numbers<>+184(SB)
#define DECAY2     numbers<>+192(SB)
#define DECAY3     numbers<>+200(SB)
#define DECAY4     numbers<>+208(SB)
#define DECAY5     numbers<>+216(SB)
#define LOG1P1     numbers<>+224(SB)
#define LOG1P2     numbers<>+232(SB)
#define LOG1P3     numbers<>+240(SB)
#define LOG1P4     numbers<>+248(SB)
#define LOG1P5     numbers<>+256(SB)
#define LOG1P6     numbers<>+264(SB)
#define LOG1P7     numbers<>+272(SB)
#define LOG1P8     numbers<>+280(SB)
#define MINUSONE   numbers<>+288(SB)
#define LANES      numbers<>+296(SB) // 0, 1, 2, 3
#define TWO numbers<>+328(SB)
#define LOG0 numbers<>+336(SB)
#define LOG1 numbers<>+344(SB)
#define LOG2 numbers<>+352(SB)
#define LOG3 numbers<>+360(SB)
#define LOG4 numbers<>+368(SB)
#define LOG5 numbers<>+376(SB)
#define LOG6 numbers<>+384(SB)
#define LEASTNORMAL numbers<>+392(SB)
#define MOST numbers<>+400(SB)
#define RAISE numbers<>+408(SB)
#define RAISED numbers<>+416(SB)
#define SPLIT numbers<>+424(SB)
#define SPLITTOP numbers<>+432(SB)
#define EXPONENT numbers<>+440(SB)
#define EXPONENTZERO numbers<>+448(SB)
#define MINUSINF numbers<>+456(SB)
#define NAN numbers<>+464(SB)
#define NEGLIGIBLE numbers<>+472(SB)

DATA numbers<>+0(SB)/8, $0x3ff71547652b82fe // LOG2E: 0x1.71547652b82fep+0
DATA numbers<>+8(SB)/8, $0x4338000000000000 // SHIFT: 0x1.8p52
DATA numbers<>+16(SB)/8, $0x3fe62e42fefa3800 // LN2HI: 0x1.62e42fefa3800p-1
DATA numbers<>+24(SB)/8, $0x3d2ef35793c76730 // LN2LO: 0x1.ef35793c76730p-45
DATA numbers<>+32(SB)/8, $0x4086300000000000 // HIGHEST: 710.0
DATA numbers<>+40(SB)/8, $0xc086232bdd7abcd2 // LEAST: -0x1.6232bdd7abcd2p+9
DATA numbers<>+48(SB)/8, $0x3fe0000000000000 // HALF: 0x1p-1
DATA numbers<>+56(SB)/8, $0x3ff0000000000000 // ONE: 0x1p0
DATA numbers<>+64(SB)/8, $0x00000000000003ff // BIAS: 1023
DATA numbers<>+72(SB)/8, $0x8000000000000000 // SIGN: the sign bit
DATA numbers<>+80(SB)/8, $0x3fc5555555555556 // EXP0: 0x1.5555555555556p-3
DATA numbers<>+88(SB)/8, $0x3fa5555555555555 // EXP1: 0x1.5555555555555p-5
DATA numbers<>+96(SB)/8, $0x3f811111111109b4 // EXP2: 0x1.11111111109b4p-7
DATA numbers<>+104(SB)/8, $0x3f56c16c16c167e2 // EXP3: 0x1.6c16c16c167e2p-10
DATA numbers<>+112(SB)/8, $0x3f2a01a01a7c327a // EXP4: 0x1.a01a01a7c327ap-13
DATA numbers<>+120(SB)/8, $0x3efa01a01a47a78f // EXP5: 0x1.a01a01a47a78fp-16
DATA numbers<>+128(SB)/8, $0x3ec71de0db21e27f // EXP6: 0x1.71de0db21e27fp-19
DATA numbers<>+136(SB)/8, $0x3e927e4e1f6a6779 // EXP7: 0x1.27e4e1f6a6779p-22
DATA numbers<>+144(SB)/8, $0x3e5af38a0d2d9620 // EXP8: 0x1.af38a0d2d9620p-26
DATA numbers<>+152(SB)/8, $0x3e21f66da6ee7eea // EXP9: 0x1.1f66da6ee7eeap-29
DATA numbers<>+160(SB)/8, $0xbfe0000000000000 // MINUSHALF: -0x1p-1
DATA numbers<>+168(SB)/8, $0x402e000000000000 // FIFTEEN: 15
DATA numbers<>+176(SB)/8, $0x42f8000000000000 // DECAYSHIFT: 0x1.8p48
DATA numbers<>+184(SB)/8, $0x3fc5555555555556 // DECAY1: 0x1.5555555555556p-3
DATA numbers<>+192(SB)/8, $0x3fa55555554e90f2 // DECAY2: 0x1.55555554e90f2p-5
DATA numbers<>+200(SB)/8, $0x3f811111110e0f1e // DECAY3: 0x1.11111110e0f1ep-7
DATA numbers<>+208(SB)/8, $0x3f56c17ed998e52b // DECAY4: 0x1.6c17ed998e52bp-10
DATA numbers<>+216(SB)/8, $0x3f2a01b0c731c4a3 // DECAY5: 0x1.a01b0c731c4a3p-13
DATA numbers<>+224(SB)/8, $0x3fd55555555554f8 // LOG1P1: 0x1.55555555554f8p-2
DATA numbers<>+232(SB)/8, $0xbfcfffffffffff54 // LOG1P2: -0x1.fffffffffff54p-3
DATA numbers<>+240(SB)/8, $0x3fc9999999bb6139 // LOG1P3: 0x1.9999999bb6139p-3
DATA numbers<>+248(SB)/8, $0xbfc5555555744c89 // LOG1P4: -0x1.5555555744c89p-3
DATA numbers<>+256(SB)/8, $0x3fc24922ed99e0dd // LOG1P5: 0x1.24922ed99e0ddp-3
DATA numbers<>+264(SB)/8, $0xbfbffffcfcb9d92c // LOG1P6: -0x1.ffffcfcb9d92cp-4
DATA numbers<>+272(SB)/8, $0x3fbc80eeecd82e10 // LOG1P7: 0x1.c80eeecd82e1p-4
DATA numbers<>+280(SB)/8, $0xbfb9a77e2996b8a2 // LOG1P8: -0x1.9a77e2996b8a2p-4
DATA numbers<>+288(SB)/8, $0xbff0000000000000 // MINUSONE: -1
DATA numbers<>+296(SB)/8, $0 // LANES
DATA numbers<>+304(SB)/8, $1
DATA numbers<>+312(SB)/8, $2
DATA numbers<>+320(SB)/8, $3
DATA numbers<>+328(SB)/8, $0x4000000000000000 // TWO: 2
DATA numbers<>+336(SB)/8, $0x3fe5555555555558 // LOG0: 0x1.5555555555558p-1
DATA numbers<>+344(SB)/8, $0x3fd99999999952c5 // LOG1: 0x1.99999999952c5p-2
DATA numbers<>+352(SB)/8, $0x3fd2492492df4807 // LOG2: 0x1.2492492df4807p-2
DATA numbers<>+360(SB)/8, $0x3fcc71c62e165bbb // LOG3: 0x1.c71c62e165bbbp-3
DATA numbers<>+368(SB)/8, $0x3fc7462b5d61104f // LOG4: 0x1.7462b5d61104fp-3
DATA numbers<>+376(SB)/8, $0x3fc39fe3997bbbc7 // LOG5: 0x1.39fe3997bbbc7p-3
DATA numbers<>+384(SB)/8, $0x3fc2b5a2a3d1b390 // LOG6: 0x1.2b5a2a3d1b390p-3
DATA numbers<>+392(SB)/8, $0x0010000000000000 // LEASTNORMAL: 0x1p-1022
DATA numbers<>+400(SB)/8, $0x7fefffffffffffff // MOST: 0x1.fffffffffffffp+1023
DATA numbers<>+408(SB)/8, $0x4350000000000000 // RAISE: 0x1p+54
DATA numbers<>+416(SB)/8, $0x404b000000000000 // RAISED: 54
DATA numbers<>+424(SB)/8, $0x00195f619980c433 // SPLIT: 1024<<52 − the bits of √½
DATA numbers<>+432(SB)/8, $0x4000000000000000 // SPLITTOP: 1024<<52
DATA numbers<>+440(SB)/8, $0x4330000000000000 // EXPONENT: 0x1p52
DATA numbers<>+448(SB)/8, $0x4330000000000400 // EXPONENTZERO: 0x1p52 + 1024
DATA numbers<>+456(SB)/8, $0xfff0000000000000 // MINUSINF: −Inf
DATA numbers<>+464(SB)/8, $0x7ff8000000000001 // NAN: math.NaN()
DATA numbers<>+472(SB)/8, $0x3c30000000000000 // NEGLIGIBLE: 0x1p-60
GLOBL numbers<>(SB), RODATA|NOPTR, $480
