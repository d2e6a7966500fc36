// The tables of logistic.go in package kernels, 16 numbers each, as bits. A test
// checks that they agree.

#define POWERS    0 // offset of kernels.powers
#define REMNANTS  128 // offset of kernels.remnants
#define INVERSES  256 // offset of kernels.inverses
#define LOGS      384 // offset of kernels.logs

DATA tables<>+0(SB)/8, $0x3ff0000000000000 // powers 0
DATA tables<>+8(SB)/8, $0x3ff0b5586cf9890f // powers 1
DATA tables<>+16(SB)/8, $0x3ff172b83c7d517b // powers 2
DATA tables<>+24(SB)/8, $0x3ff2387a6e756238 // powers 3
DATA tables<>+32(SB)/8, $0x3ff306fe0a31b715 // powers 4
DATA tables<>+40(SB)/8, $0x3ff3dea64c123422 // powers 5
DATA tables<>+48(SB)/8, $0x3ff4bfdad5362a27 // powers 6
DATA tables<>+56(SB)/8, $0x3ff5ab07dd485429 // powers 7
DATA tables<>+64(SB)/8, $0x3ff6a09e667f3bcd // powers 8
DATA tables<>+72(SB)/8, $0x3ff7a11473eb0187 // powers 9
DATA tables<>+80(SB)/8, $0x3ff8ace5422aa0db // powers 10
DATA tables<>+88(SB)/8, $0x3ff9c49182a3f090 // powers 11
DATA tables<>+96(SB)/8, $0x3ffae89f995ad3ad // powers 12
DATA tables<>+104(SB)/8, $0x3ffc199bdd85529c // powers 13
DATA tables<>+112(SB)/8, $0x3ffd5818dcfba487 // powers 14
DATA tables<>+120(SB)/8, $0x3ffea4afa2a490da // powers 15
DATA tables<>+128(SB)/8, $0x0000000000000000 // remnants 0
DATA tables<>+136(SB)/8, $0x3c979aa65d837b6c // remnants 1
DATA tables<>+144(SB)/8, $0xbc801b15eaa59348 // remnants 2
DATA tables<>+152(SB)/8, $0x3c968efde3a8a894 // remnants 3
DATA tables<>+160(SB)/8, $0x3c834d754db0abb6 // remnants 4
DATA tables<>+168(SB)/8, $0x3c859f48a72a4c6d // remnants 5
DATA tables<>+176(SB)/8, $0x3c7690cebb7aafb0 // remnants 6
DATA tables<>+184(SB)/8, $0x3c9063e1e21c5409 // remnants 7
DATA tables<>+192(SB)/8, $0xbc93b3efbf5e2229 // remnants 8
DATA tables<>+200(SB)/8, $0xbc7b32dcb94da51d // remnants 9
DATA tables<>+208(SB)/8, $0x3c8db72fc1f0eab4 // remnants 10
DATA tables<>+216(SB)/8, $0x3c71affc2b91ce27 // remnants 11
DATA tables<>+224(SB)/8, $0x3c8c1a7792cb3387 // remnants 12
DATA tables<>+232(SB)/8, $0x3c736eae30af0cb3 // remnants 13
DATA tables<>+240(SB)/8, $0x3c74a385a63d07a7 // remnants 14
DATA tables<>+248(SB)/8, $0xbc8ff7128fd391f1 // remnants 15
DATA tables<>+256(SB)/8, $0x3ff0000000000000 // inverses 0
DATA tables<>+264(SB)/8, $0x3fee003600000000 // inverses 1
DATA tables<>+272(SB)/8, $0x3fec39a200000000 // inverses 2
DATA tables<>+280(SB)/8, $0x3feaa25a00000000 // inverses 3
DATA tables<>+288(SB)/8, $0x3fe93d7600000000 // inverses 4
DATA tables<>+296(SB)/8, $0x3fe8025600000000 // inverses 5
DATA tables<>+304(SB)/8, $0x3fe6d35e00000000 // inverses 6
DATA tables<>+312(SB)/8, $0x3fe5cd2400000000 // inverses 7
DATA tables<>+320(SB)/8, $0x3fe4e59800000000 // inverses 8
DATA tables<>+328(SB)/8, $0x3fe3f8d400000000 // inverses 9
DATA tables<>+336(SB)/8, $0x3fe3307400000000 // inverses 10
DATA tables<>+344(SB)/8, $0x3fe2706000000000 // inverses 11
DATA tables<>+352(SB)/8, $0x3fe1c2e800000000 // inverses 12
DATA tables<>+360(SB)/8, $0x3fe129a200000000 // inverses 13
DATA tables<>+368(SB)/8, $0x3fe083e600000000 // inverses 14
DATA tables<>+376(SB)/8, $0x3fe0014c00000000 // inverses 15
DATA tables<>+384(SB)/8, $0x0000000000000000 // logs 0
DATA tables<>+392(SB)/8, $0x3fb083cbea70239a // logs 1
DATA tables<>+400(SB)/8, $0x3fc011255a5122d2 // logs 2
DATA tables<>+408(SB)/8, $0x3fc77e3fe5cb99e6 // logs 3
DATA tables<>+416(SB)/8, $0x3fce5feeb24a0e94 // logs 4
DATA tables<>+424(SB)/8, $0x3fd26327b4200bb9 // logs 5
DATA tables<>+432(SB)/8, $0x3fd59f593b641593 // logs 6
DATA tables<>+440(SB)/8, $0x3fd88f9aa767226c // logs 7
DATA tables<>+448(SB)/8, $0x3fdb45d5fd4f5763 // logs 8
DATA tables<>+456(SB)/8, $0x3fde2b816bbe2046 // logs 9
DATA tables<>+464(SB)/8, $0x3fe05d434e5f5432 // logs 10
DATA tables<>+472(SB)/8, $0x3fe1a4009c7900fe // logs 11
DATA tables<>+480(SB)/8, $0x3fe2d6b879bb8a98 // logs 12
DATA tables<>+488(SB)/8, $0x3fe3efa12f40973f // logs 13
DATA tables<>+496(SB)/8, $0x3fe52a9f87282e22 // logs 14
DATA tables<>+504(SB)/8, $0x3fe62bab19e1c5c4 // logs 15
GLOBL tables<>(SB), RODATA|NOPTR, $512
