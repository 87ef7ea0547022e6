/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sound card of one I2S controller and one codec, as the device tree names them: model, tonearm,i2s, tonearm,codec.
 *
 * Copyright: Tonearm maintainers
 */
#ifndef TONEARM_CARD_H
#define TONEARM_CARD_H

#include <linux/of.h>
#include <sound/soc.h>

struct tonearm_card {
	struct snd_soc_card card;
	struct snd_soc_dai_link link;
	struct snd_soc_dai_link_component cpu, codec, platform;
};

static void tonearm_put_node(void *node)
{
	of_node_put(node);
}

/* The node that a property names; it stays as long as the device. */
static struct device_node *tonearm_get_node(struct device *dev, const char *property)
{
	struct device_node *node = of_parse_phandle(dev->of_node, property, 0);
	int ret;

	if (!node)
		return ERR_PTR(dev_err_probe(dev, -EINVAL, "%s is missing\n", property));
	ret = devm_add_action_or_reset(dev, tonearm_put_node, node);
	return ret ? ERR_PTR(ret) : node;
}

/* Registers the card. The caller has filled `link` but for the components, and set the card's driver data. */
static int tonearm_register_card(struct device *dev, struct tonearm_card *it, const char *codec_dai)
{
	int ret;

	it->cpu.of_node = it->platform.of_node = tonearm_get_node(dev, "tonearm,i2s");
	if (IS_ERR(it->cpu.of_node))
		return PTR_ERR(it->cpu.of_node);
	it->codec.of_node = tonearm_get_node(dev, "tonearm,codec");
	if (IS_ERR(it->codec.of_node))
		return PTR_ERR(it->codec.of_node);
	it->codec.dai_name = codec_dai;
	it->link.cpus = &it->cpu;
	it->link.codecs = &it->codec;
	it->link.platforms = &it->platform;
	it->link.num_cpus = it->link.num_codecs = it->link.num_platforms = 1;

	it->card.dev = dev;
	it->card.owner = THIS_MODULE;
	it->card.dai_link = &it->link;
	it->card.num_links = 1;
	ret = snd_soc_of_parse_card_name(&it->card, "model");
	if (ret)
		return ret;
	ret = devm_snd_soc_register_card(dev, &it->card);
	return ret ? dev_err_probe(dev, ret, "The card cannot be registered\n") : 0;
}

#endif
