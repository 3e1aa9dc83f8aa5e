/* split-c/elan.h: the Elan library that programs used on the Meiko CS-2;
 * split-c/machines.h says how it works here. */
#ifndef SPLIT_C_ELAN_H
#define SPLIT_C_ELAN_H

#include <split-c/split-c.h>

#ifdef __cplusplus
extern "C" {
#endif

void ew_baseInit(void);      /* nothing */
void ew_gsync(void* group);  /* barrier(), for any group */
void ew_fgsync(void* group); /* likewise */

#ifdef __cplusplus
}
#else
/* These end the job with a sentence. */
int ew_tportInit(), ew_tportTxStart(), ew_tportRxStart(), elan_dma(), csn_init(), csn_open(),
    csn_registername(), csn_lookupname(), csn_tx(), csn_rx();
#endif

#endif
