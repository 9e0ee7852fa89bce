#include "mailboxes/bounce_foreign.h"

/*
 * As phrase_prepare() leaves a text: accents of Latin-1 are gone, all others
 * stay; only ASCII is in lower case, so that a word that may begin a subject
 * lacks its first letter in Greek and Cyrillic.
 */

const char	bounce_foreign_failures[] =
    /* es */
    "no se puede entregar|no se pudo entregar|no se ha podido entregar|"
    "no fue posible entregar|imposible entregar|error de entrega|"
    "error en la entrega|fallo en la entrega|mensaje devuelto|"
    "correo devuelto|no entregado|"
    /* cs, sk */
    "nedorucen|nedoručiteľn|nedoručiteln|nedoručen|nelze doručit|"
    "nebyla doručena|nebylo doručeno|nepodařilo doručit|nemožno doručiť|"
    "nebola doručena|nepodarilo doručiť|"
    /* da, nb, sv */
    "kan ikke levere|ikke levert|olevererbar|ej levererat|"
    "kunne ikke leveres|ikke leveret|leveringsfejl|leveringsfeil|"
    "gar inte att leverera|kunde inte levereras|kunde inte leverera|"
    "har inte levererats|"
    /* de */
    "unzustellbar|nicht zugestellt|nicht ausgeliefert|nicht zustellbar|"
    "konnte nicht zugestellt|zustellung fehlgeschlagen|zustellfehler|"
    "fehler bei der zustellung|"
    /* el */
    "η παραδόσιμ|η παραδοτέ|δεν παραδόθηκε|δεν ήταν δυνατή η παράδοση|"
    "δεν είναι δυνατή η παράδοση|δεν μπόρεσε να παραδοθεί|"
    "δύνατη η παράδοση|ποτυχία παράδοσης|"
    /* fi */
    "toimittamaton|ei voi toimittaa|ei voida toimittaa|"
    "ei voitu toimittaa|toimitus epaonnistui|"
    /* fr */
    "non remis|non distribu|non delivre|n a pas pu etre remis|"
    "n a pas pu etre delivre|n a pas pu etre distribue|n a pas ete remis|"
    "impossible de remettre|impossible de delivrer|remise impossible|"
    "echec de la remise|echec de remise|echec de distribution|"
    /* he */
    "לא ניתן למסור|לא ניתן למסירה|לא נמסר|המסירה נכשלה|כשל במסירה|"
    /* hu */
    "kezbesithetetlen|nem kezbesithető|kezbesites sikertelen|"
    "sikertelen kezbesites|kezbesitesi hiba|nem sikerult kezbesiteni|"
    /* it */
    "non recapit|non consegnat|mancata consegna|impossibile recapitare|"
    "impossibile consegnare|non e stato possibile recapitare|"
    "non e stato possibile consegnare|mancato recapito|"
    "recapito non riuscito|errore di recapito|errore nella consegna|"
    /* ja */
    "配信できません|配信出来ません|配信されませんでした|配信不能|"
    "配信エラー|配信失敗|配信に失敗|配送できません|配送エラー|"
    "配達できません|配達不能|送信できません|送信エラー|送信に失敗|"
    "届けられません|お届けできません|届きませんでした|宛先不明|"
    "エラーメール|"
    /* ko */
    "전달할 수 없|전송할 수 없|배달할 수 없|전달하지 못|전송하지 못|"
    "배달하지 못|전달되지 않|배달되지 않|전송되지 않|전달 실패|전송 실패|"
    "배달 실패|발송 실패|메일 반송|반송되었|반송 메일|"
    /* nl */
    "onbestelbaar|niet bezorgd|niet bezorgbaar|niet worden bezorgd|"
    "niet worden afgeleverd|niet afgeleverd|bezorging mislukt|"
    "aflevering mislukt|"
    /* pl */
    "niedostarcz|nie dostarczon|nie można dostarczyć|"
    "nie udało się dostarczyć|nie została dostarczona|"
    "nie mogła zostać dostarczona|niedoręczon|błąd dostarczania|"
    "dostarczenie nie powiodło się|"
    /* pt */
    "nao entregue|falha na entrega|nao foi possivel entregar|"
    "nao e possivel entregar|nao pode ser entregue|"
    "nao foi entregue|falha de entrega|erro de entrega|erro na entrega|"
    /* ro */
    "nelivrabil|nu a putut fi livrat|nu poate fi livrat|nu a fost livrat|"
    /* ru, uk */
    "едоставлен|не доставлен|е удалось доставить|е может быть доставлен|"
    "евозможно доставить|е удается доставить|е было доставлено|"
    "шибка доставки|бой доставки|е вдалося доставити|еможливо доставити|"
    "омилка доставки|"
    /* tr */
    "teslim edilemedi|teslim edilemiyor|iletilemedi|iletilemiyor|"
    "gonderilemedi|ulaştırılamadı|"
    /* zh */
    "退信|被退回|无法投递|无法送达|无法传递|未能送达|未送达|投递失败|"
    "发送失败|無法投遞|無法傳遞|無法送達|投遞失敗|傳送失敗|遞送失敗|"
    "寄送失敗";

const char	bounce_foreign_delays[] =
    /* cs, sk */
    "zpožděne doručeni|zpožděni doručeni|doručeni se opozdi|"
    "zatim nebyla doručena|zatim nebylo doručeno|dosud nebyla doručena|"
    "dosud nebylo doručeno|oneskorene doručenie|zatiaľ nebola doručena|"
    /* da, nb, sv */
    "forsinket levering|levering forsinket|leveringen er forsinket|"
    "enna ikke levert|endnu ikke leveret|forsenad leverans|"
    "leveransen ar forsenad|har forsenats|annu inte levererats|"
    /* de */
    "zustellung verzogert|verzogerte zustellung|zustellung ist verzogert|"
    "verzogert sich|noch nicht zugestellt|wird weiter versucht|"
    /* el */
    "αθυστέρηση παράδοσης|αθυστερημένη παράδοση|παράδοση καθυστερεί|"
    "δεν παραδόθηκε ακόμη|δεν έχει παραδοθεί ακόμη|"
    /* es */
    "entrega retrasada|entrega demorada|retraso en la entrega|"
    "la entrega se ha retrasado|se esta retrasando|"
    "aun no se ha entregado|todavia no se ha entregado|"
    /* fi */
    "viivastynyt toimitus|toimitus viivasty|toimitus on viivastynyt|"
    /* fr */
    "remise retardee|livraison retardee|distribution retardee|"
    "remise differee|est retardee|a ete retardee|"
    "n a pas encore ete remis|pas encore pu etre remis|"
    /* he */
    "המסירה מתעכבת|המסירה התעכבה|עיכוב במסירה|"
    /* hu */
    "kesleltetett kezbesites|kezbesites kesik|kezbesitese kesik|"
    "meg nem sikerult kezbesiteni|kezbesites kesleltetve|"
    /* it */
    "recapito ritardato|consegna ritardata|ritardo nel recapito|"
    "ritardo nella consegna|il recapito e in ritardo|"
    "recapito del messaggio e stato ritardato|"
    "non e ancora stato recapitato|non ancora consegnato|"
    /* ja */
    "配信が遅れ|配信が遅延|配信遅延|配信の遅延|配送が遅れ|配送遅延|"
    "まだ配信されていません|まだ配信できていません|配信を再試行|"
    "再送を試み|再送信を試み|"
    /* ko */
    "배달 지연|전달 지연|전송 지연|배달이 지연|전달이 지연|전송이 지연|"
    "아직 배달되지|아직 전달되지|아직 전송되지|"
    /* nl */
    "bezorging vertraagd|vertraagde bezorging|aflevering vertraagd|"
    "vertraagde aflevering|bezorging is vertraagd|nog niet bezorgd|"
    "nog niet afgeleverd|"
    /* pl */
    "opoźnione dostarczenie|opoźnienie dostarczenia|"
    "opoźnienie w dostarczeniu|dostarczenie opoźnione|"
    "nie została jeszcze dostarczona|jeszcze nie została dostarczona|"
    /* pt */
    "entrega atrasada|entrega adiada|atraso na entrega|"
    "ainda nao foi entregue|a entrega esta atrasada|"
    /* ro */
    "livrare intarziată|intarziere la livrare|livrarea este intarziată|"
    "nu a fost incă livrat|"
    /* ru, uk */
    "оставка отложена|оставка задерж|адержка доставки|ще не доставлен|"
    "щё не доставлен|ока не доставлен|оставку відкладено|"
    "атримка доставки|ще не доставлено|"
    /* tr */
    "teslimat gecikti|teslimi gecikti|gecikmiş teslimat|"
    "henuz teslim edilemedi|henuz iletilemedi|"
    /* zh */
    "延迟投递|投递延迟|传递延迟|邮件延迟|尚未送达|尚未投递|将继续尝试|"
    "延遲傳遞|傳遞延遲|郵件延遲|將繼續嘗試";
